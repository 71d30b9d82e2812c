import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findNonceConsumer } from '#chains/solana/watch/nonce-consumer.ts';
import { BLOCK_CALLS, getBlockHashAt } from '#chains/solana/client/rpc-calls.ts';
import { connect } from '#chains/solana/client/rpc-node.ts';
import { isAddressText } from '#chains/solana/client/account-answers.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { startFalseNode } from '../../false-node.ts';
import { clientAt, stranger } from '../cast.ts';
import { present } from '../../evm/cast.ts';

/** Covers versions of transactions, failed transactions and dust, from field answers of nodes. */

const WALLET = '3U1ABxvPQVeVm6UadTXmXn8QBh1VTuaKxSQ6zqBrfni4';

const MINT = '9HTcvoUXHuzPL5TjWNjzK4AGRNcFXXQwwU7NJbgy1Mux';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

/** A mint with a supply of one unit without fractions; `MINT` has more. */
function mintAccount(mint: unknown) {
  const data = Buffer.alloc(82);
  data.writeBigUInt64LE(mint === MINT ? 2n : 1n, 36);
  return { lamports: 1, owner: TOKEN_2022, executable: false, data: [data.toString('base64'), 'base64'] };
}

interface Mined {
  readonly slot: number;
  readonly meta: { readonly err: unknown; readonly postTokenBalances?: readonly object[] };
  readonly transaction: { readonly signatures: readonly string[] };
}
interface Refused {
  readonly error: { readonly code: number; readonly message: string };
}

const vector = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, `../vectors/${name}.json`), 'utf8'));
const failed: { readonly getTransaction: Mined } = vector('failed-transaction');
const dust: { readonly getTransaction: Mined } = vector('dust');
const versionOne: { readonly getTransaction: Refused } = vector('version-1');

const node = await startSolanaNode();
const liar = await startFalseNode(node.url);
afterAll(async () => {
  await liar.stop();
  await node.stop();
});

const SLOT = 450_000_000;
const at = (value: unknown) => ({ result: { context: { slot: SLOT }, value } });

interface Options {
  readonly maxSupportedTransactionVersion?: number;
  readonly transactionDetails?: string;
}

/** The methods and options of the requests for transactions and blocks. */
const requested: [string, Options][] = [];
beforeEach(() => void (requested.length = 0));

/** Answers as Agave does when a block has a transaction of a version. */
function serve({ slot, meta, transaction }: Mined, version: number): void {
  liar.follow((method, params) => {
    if (method === 'getSignatureStatuses')
      return at([{ slot, confirmations: null, err: meta.err, confirmationStatus: 'finalized' }]);
    if (method === 'getSlot') return { result: SLOT };
    if (method === 'getSignaturesForAddress')
      return { result: [{ signature: transaction.signatures[0], slot, err: meta.err }] };
    if (method === 'getMultipleAccounts') {
      const [mints] = params as readonly [readonly unknown[]];
      if (mints.length > 100) return { error: { code: -32602, message: 'Too many inputs provided; max 100' } };
      return at(mints.map(mintAccount));
    }
    if (method !== 'getTransaction' && method !== 'getBlock') return 'forward';
    const options = params[1] as Options;
    requested.push([method, options]);
    const message = versionOne.getTransaction.error.message.replaceAll('1', String(version));
    if ((options.maxSupportedTransactionVersion ?? -1) < version) return { error: { code: -32015, message } };
    if (method === 'getBlock') return { result: { blockhash: WALLET, signatures: transaction.signatures } };
    return { result: { slot, version, meta, transaction } };
  });
}

const hashOf = ({ transaction }: Mined) => present(transaction.signatures[0]);
const activityOf = (mined: Mined) => clientAt(liar.url).activity(hashOf(mined), null);

test('a payment in a transaction of version 1 is read', async () => {
  serve(dust.getTransaction, 1);
  const seen = await activityOf(dust.getTransaction);
  expect(seen.ok && seen.value?.movements.map(({ to, amount }) => [to, amount])).toEqual([[WALLET, '1']]);
  expect(requested.map(([, options]) => options.maxSupportedTransactionVersion)).toEqual([1, 1]);
});

test('a block with a transaction of version 1 shows its hash and its signatures', async () => {
  serve(dust.getTransaction, 1);
  const rpc = connect(liar.url);
  const { slot } = dust.getTransaction;
  expect(await rpc.request(getBlockHashAt(BigInt(slot)))).toEqual({ ok: true, value: WALLET });
  const block = { number: String(slot), hash: WALLET };
  expect(await rpc.request(BLOCK_CALLS.getTransactionHashes(block))).toEqual({
    ok: true,
    value: dust.getTransaction.transaction.signatures,
  });
});

test('a transaction of a version that cannot be read is unread, and no fault of the node', async () => {
  serve(dust.getTransaction, 2);
  const seen = await activityOf(dust.getTransaction);
  expect(seen).toMatchObject({ ok: false, refusal: { isUnread: true } });
  expect(!seen.ok && seen.refusal.detail).toContain('Transaction version (2) is not supported');
  // A refusal with another code is a fault of the node.
  liar.follow((method) => (method === 'getTransaction' ? { error: { code: -32000, message: 'no' } } : 'forward'));
  expect(await activityOf(dust.getTransaction)).not.toMatchObject({ refusal: { isUnread: true } });
});

test('a transaction that cannot be read does not hide the one that used a durable nonce', async () => {
  if (!isAddressText(WALLET)) throw new Error('it is an address');
  const anchor = { kind: 'nonce', nonceSlot: 0, value: WALLET } as const;
  const request = { wallet: WALLET, anchor, unusedAt: null, hashes: [] };
  serve(dust.getTransaction, 2);
  expect(await findNonceConsumer(connect(liar.url), request)).toEqual({ ok: true, value: null });
  expect(requested.map(([method]) => method)).toEqual(['getTransaction']);
});

test('a failed transaction is read as one that failed and moved nothing', async () => {
  serve(failed.getTransaction, 0);
  const seen = await activityOf(failed.getTransaction);
  expect(seen).toMatchObject({ ok: true, value: { hasFailed: true, movements: [], fee: '5000' } });
  serve(dust.getTransaction, 0);
  expect(await activityOf(dust.getTransaction)).not.toMatchObject({ value: { hasFailed: true } });
});

/** Returns the balance of the second account of the transaction. */
const holding = (mint: string, differences: object = { owner: WALLET }) => ({
  accountIndex: 1,
  mint,
  uiTokenAmount: { amount: '1', decimals: 0 },
  ...differences,
});
const receiving = (rows: readonly object[]): Mined => ({
  ...dust.getTransaction,
  meta: { ...dust.getTransaction.meta, postTokenBalances: rows },
});

test('a token account without its owner makes the transaction unread, and is not booked to itself', async () => {
  serve(receiving([holding(MINT, {})]), 0);
  expect(await activityOf(dust.getTransaction)).toMatchObject({ ok: false, refusal: { isUnread: true } });
  serve(receiving([holding(MINT)]), 0);
  const seen = await activityOf(dust.getTransaction);
  expect(seen.ok && seen.value?.movements.map(({ to, kind }) => [to, kind])).toEqual([
    [WALLET, 'native'],
    [WALLET, 'spl'],
  ]);
});

test('every mint of a transaction is judged as an NFT or not, however many there are', async () => {
  const mints = Array.from({ length: 101 }, () => stranger());
  serve(receiving(mints.map((mint) => holding(mint))), 0);
  const seen = await activityOf(dust.getTransaction);
  const kinds = seen.ok ? seen.value?.movements.map(({ kind }) => kind) : [];
  expect(kinds).toEqual(['native', ...mints.map(() => 'splNft')]);
});
