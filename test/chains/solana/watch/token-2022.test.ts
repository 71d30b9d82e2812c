import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getBase58Encoder } from '@solana/kit';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Asset } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { recordActivity } from '#objects/vault/commands/activity.ts';
import { recordHoldings } from '#objects/vault/commands/balance.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import { holdingsAt, unitsIn } from '../../readings.ts';
import { clientAt } from '../cast.ts';
import { present } from '../../evm/cast.ts';
import { NOON_MS, UNPRICED } from '../../../domain/cast.ts';
import { newVaultScene } from '../../../objects/vault/vault-scene.ts';

/**
 * Covers a token of the program Token-2022 from the answers of an RPC node to the ledger of a
 * vault. The answers are those of a public case in which the balance was set to zero.
 */

const CHAIN = 'solana-local';
const WALLET = '3U1ABxvPQVeVm6UadTXmXn8QBh1VTuaKxSQ6zqBrfni4';
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const PYUSD = '9HTcvoUXHuzPL5TjWNjzK4AGRNcFXXQwwU7NJbgy1Mux';
const UNLISTED = '2PgvEhk9n3ZM6RDEWSus4ubYTYCXyebQ8PAgNrd9bNZJ';

const node = await startSolanaNode();
const liar = await startFalseNode(node.url);
afterAll(async () => {
  await liar.stop();
  await node.stop();
});
beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Payment {
  readonly getTransaction: {
    readonly slot: number;
    readonly meta: object;
    readonly transaction: { readonly signatures: readonly string[] };
  };
  /** Other mints by their address; none when absent. */
  readonly mint?: Readonly<Record<string, object>>;
}

interface Received extends Payment {
  readonly mintAccount: object;
}

interface Accounts {
  readonly getTokenAccountsByOwner: Readonly<
    Record<
      string,
      Readonly<
        Record<
          'base64' | 'jsonParsed',
          {
            readonly value: readonly {
              readonly pubkey: string;
              readonly account: { readonly data: readonly [string, string] };
            }[];
          }
        >
      >
    >
  >;
}

const read = (name: string) => JSON.parse(readFileSync(join(import.meta.dirname, `../vectors/${name}.json`), 'utf8'));

const received: Received = read('token-2022-received');
const unlisted: Received = read('token-2022-unlisted');
const { getTokenAccountsByOwner: accounts }: Accounts = read('token-accounts');

/** The mint of a token of the first program, which is not in the fixture: its first 82 bytes. */
const CLASSIC_MINT = {
  lamports: 1_461_600,
  owner: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  executable: false,
  data: [Buffer.from([...new Uint8Array(44), 6, 1, ...new Uint8Array(36)]).toString('base64'), 'base64'],
};
const MINTS: Readonly<Record<string, object>> = {
  [USDC]: CLASSIC_MINT,
  [PYUSD]: received.mintAccount,
  [UNLISTED]: unlisted.mintAccount,
};

const SLOT = 400_000_000;
const at = (value: unknown) => ({ result: { context: { slot: SLOT }, value } });

type Row = (typeof accounts)[string]['base64']['value'][number];

/** Returns a row as a node cuts it to the requested bytes. */
function sliced({ pubkey, account }: Row, length: number): Row {
  const data = Buffer.from(account.data[0], 'base64').subarray(0, length).toString('base64');
  return { pubkey, account: { ...account, data: [data, 'base64'] } };
}

/**
 * Answers as a node with the transaction, its mints, and the token accounts of the wallet.
 *
 * @param lists what the node answers instead when the accounts of a program are requested
 */
function answersOf({ getTransaction, mint = {} }: Payment, lists: Readonly<Record<string, Rule>> = {}) {
  const content = new Map(Object.entries({ ...MINTS, ...mint }));
  for (const { base64 } of Object.values(accounts)) {
    for (const { pubkey, account } of base64.value) content.set(pubkey, account);
  }
  return (method: string, params: readonly unknown[]): Rule => {
    if (method === 'getSignatureStatuses') {
      return at([{ slot: getTransaction.slot, confirmations: null, err: null, confirmationStatus: 'finalized' }]);
    }
    if (method === 'getTransaction') return { result: getTransaction };
    if (method === 'getBlock') return { result: { blockhash: WALLET } };
    if (method === 'getSlot') return { result: SLOT };
    if (method === 'getMultipleAccounts') {
      const [addresses] = params as readonly [readonly string[]];
      return at(addresses.map((address) => content.get(address) ?? null));
    }
    if (method !== 'getTokenAccountsByOwner') return 'forward';
    const [, { programId }, { encoding, dataSlice }] = params as readonly [string, Filter, Options];
    const rows = accounts[programId]?.[encoding].value ?? [];
    return lists[programId] ?? at(dataSlice === undefined ? rows : rows.map((one) => sliced(one, dataSlice.length)));
  };
}

interface Filter {
  readonly programId: string;
}

interface Options {
  readonly encoding: 'base64' | 'jsonParsed';
  readonly dataSlice?: { readonly length: number };
}

function serve(...terms: Parameters<typeof answersOf>): void {
  liar.follow(answersOf(...terms));
}

const spl = (tokenAddress: string): Asset => ({ kind: 'spl', tokenAddress, tokenId: null });

function newScene() {
  const { storage, host } = newVaultScene();
  const vault = present(host.vault());
  const [key] = vault.keys;
  host.replaceVault({ ...vault, keys: [{ ...present(key), addresses: { [CHAIN]: WALLET } }] });
  const client = clientAt(liar.url);
  return {
    client,
    receives: async ({ getTransaction }: Payment) => {
      const hash = present(getTransaction.transaction.signatures[0]);
      const seen = await client.activity(hash, null);
      if (!seen.ok) throw new Error(seen.refusal.detail);
      return recordActivity(host, { chain: CHAIN, hash, seen: seen.value, valuation: UNPRICED });
    },
    /** Compares these tokens with the chain for three hours. */
    compares: async (tokens: readonly string[]) => {
      const assets = tokens.map((token) => ({ chain: CHAIN, ...spl(token) }));
      for (let hour = 0; hour <= 3; hour++) {
        vi.setSystemTime(NOON_MS + hour * 60 * 60 * 1000);
        const held = await client.holdings(WALLET, assets, true);
        await recordHoldings(host, { chain: CHAIN, assets, held: held.ok ? held.value : null, hasOpenScan: false });
      }
    },
    balance: (token: string) => storage.balances.balance({ chain: CHAIN, ...spl(token) }),
    adjustments: () => storage.history.after(0, 1_000).filter(({ action }) => action === 'adjust-balance').length,
  };
}

test('a balance of Token-2022 stays through every comparison with the chain', async () => {
  serve(received);
  const { receives, compares, balance, adjustments } = newScene();
  expect(await receives(received)).toBe('recorded');
  expect(balance(PYUSD)?.final).toBe('250000000000');
  await compares([PYUSD]);
  expect([balance(PYUSD)?.final, balance(PYUSD)?.difference, adjustments()]).toEqual(['250000000000', null, 0]);
  expect(balance(PYUSD)?.check).not.toBeNull();
});

test('the balances of both token programs are read, and each of them states its own slot', async () => {
  serve(received);
  const { client } = newScene();
  const held = await client.holdings(WALLET, [spl(USDC), spl(PYUSD), NATIVE], false);
  expect(held.ok && held.value).toEqual(holdingsAt(400_000_000, [1_000_000_000n, 250_000_000_000n, 0n]));
});

const refusal = { error: { code: -32010, message: 'excluded from account secondary indexes' } };
const base = { lamports: 1, owner: TOKEN_2022, executable: false };
const encoded = (data: Uint8Array) => ({ ...base, data: [Buffer.from(data).toString('base64'), 'base64'] as const });
const row = (data: Uint8Array, pubkey = UNLISTED) => ({ pubkey, account: encoded(data) });

/** Returns the first bytes of a token account with extensions. */
function headOf({ mint = PYUSD, owner = WALLET, units = 0n, type = 2 }): Uint8Array {
  const data = Buffer.alloc(166);
  data.set(getBase58Encoder().encode(mint), 0);
  data.set(getBase58Encoder().encode(owner), 32);
  data.writeBigUInt64LE(units, 64);
  data[108] = 1;
  data[165] = type;
  return data;
}

test.each([
  ['refuses the list of the program', refusal],
  ['sends a list that is too long', { status: 200, body: `"${'1'.repeat(5_000_000)}"` }],
  ['closes the connection', 'cut'],
  ['lists a row without an account', at([{ pubkey: UNLISTED }])],
  ['lists an account without content', at([row(new Uint8Array())])],
  ['lists an account of another type', at([row(headOf({ type: 1 }))])],
  ['lists an account of another owner', at([row(headOf({ owner: USDC }))])],
] as const)('a token is not read where the node %s, and other assets are', async (_name, rule) => {
  serve(received, { [TOKEN_2022]: rule });
  const { client, receives, compares, balance, adjustments } = newScene();
  await receives(received);
  await compares([PYUSD]);
  expect([balance(PYUSD)?.final, balance(PYUSD)?.check, adjustments()]).toEqual(['250000000000', null, 0]);
  const held = await client.holdings(WALLET, [spl(PYUSD), spl(USDC), NATIVE], false);
  expect(held.ok && unitsIn(held.value)).toEqual(['not-read', '1000000000', '0']);
});

test('a token whose mint the node does not show is not read', async () => {
  serve(received);
  const { client } = newScene();
  const held = await client.holdings(WALLET, [spl(WALLET), spl('no address'), spl(PYUSD)], false);
  expect(held.ok && unitsIn(held.value)).toEqual(['not-read', 'not-read', '250000000000']);
});

test('all accounts of a token count, however many other tokens a stranger has sent', async () => {
  const spam = Array.from({ length: 300 }, (_, i) => row(headOf({ mint: WALLET, units: BigInt(i) }), WALLET));
  const own = [1n, 20n].map((units) => row(headOf({ units })));
  // An account without extensions has no type.
  const plain = row(headOf({ units: 300n }).subarray(0, 165));
  serve(received, { [TOKEN_2022]: at([...spam, ...own, plain]) });
  const held = await newScene().client.holdings(WALLET, [spl(PYUSD)], false);
  expect(held.ok && unitsIn(held.value)).toEqual(['321']);
});

test('what a node does not read is read from the next one, and a proof needs two nodes that cover it', async () => {
  serve(received, { [TOKEN_2022]: refusal });
  const assets = [NATIVE, spl(PYUSD)];
  const [whole, other] = [await startFalseNode(node.url), await startFalseNode(node.url)];
  for (const one of [whole, other]) one.follow(answersOf(received));
  const unitsOf = async (nodes: readonly FalseNode[], requiresProof: boolean) => {
    const held = await clientAt(...nodes.map(({ url }) => url)).holdings(WALLET, assets, requiresProof);
    return held.ok && [...unitsIn(held.value), held.value.isDisputed];
  };
  expect(await unitsOf([liar, whole], false)).toEqual(['0', '250000000000', false]);
  expect(await unitsOf([liar, whole], true)).toEqual(['0', 'not-read', false]);
  expect(await unitsOf([whole, liar, other], true)).toEqual(['0', '250000000000', false]);
  await Promise.all([whole.stop(), other.stop()]);
});

test('a scan reads the transactions that name an account of either token program', async () => {
  const answers = answersOf(received);
  const named: unknown[] = [];
  liar.follow((method, params) => {
    if (method !== 'getSignaturesForAddress') return answers(method, params);
    named.push(params[0]);
    return { result: [] };
  });
  expect((await newScene().client.scan(WALLET, null)).ok).toBe(true);
  const owned = Object.values(accounts).flatMap(({ base64 }) => base64.value.map(({ pubkey }) => pubkey));
  expect([owned.length, named]).toEqual([2, [WALLET, ...owned]]);
});

test.each([
  ['a listed token of Token-2022', PYUSD, 6],
  ['an unlisted one', UNLISTED, 9],
  ['a token of the first program', USDC, 6],
  ['an account that is no mint', WALLET, null],
])('the decimals of %s are those of its mint', async (_name, token, decimals) => {
  serve(unlisted);
  const known = await newScene().client.token(token);
  expect(known.ok && known.value.decimals).toBe(decimals);
});

test.each([
  [1, 'splNft'],
  [2, 'spl'],
])('a whole token of Token-2022 with a supply of %i is of the kind %s', async (supply, kind) => {
  const after = { accountIndex: 1, mint: PYUSD, owner: WALLET, uiTokenAmount: { amount: '1', decimals: 0 } };
  const meta = { ...received.getTransaction.meta, preTokenBalances: [], postTokenBalances: [after] };
  const data = Buffer.alloc(300);
  data.writeBigUInt64LE(BigInt(supply), 36);
  data[45] = 1;
  data[165] = 1;
  const getTransaction = { ...received.getTransaction, meta };
  serve({ getTransaction, mint: { [PYUSD]: encoded(data) } });
  const seen = await newScene().client.activity(present(getTransaction.transaction.signatures[0]), null);
  expect(seen.ok && seen.value?.movements.map((one) => [one.kind, one.amount])).toEqual([[kind, '1']]);
});
