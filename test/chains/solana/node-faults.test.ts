import type { Address } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { getTokenEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { expect, test } from 'vitest';
import { derivedAddress, bytesOf, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import type { Asset } from '#domain/asset/movement.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { account, mintTo, newToken, payTokens } from '#local/solana/tokens.ts';
import { present } from '../evm/cast.ts';
import type { Rule } from '../false-node.ts';
import { clientAt, attemptOf, payment, stranger, units, Wallet } from './cast.ts';
import { startLyingNode } from './lying-node.ts';
import { holdingsAt, unitsIn } from '../readings.ts';

/** Covers RPC nodes that are unreachable, lie, or lag behind, and unusual accounts. */

const SOL = 1_000_000_000n;
const METADATA = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s' as Address;

const { node, liar, lying, about } = await startLyingNode();

const spl = (tokenAddress: string): Asset => ({ kind: 'spl', tokenAddress, tokenId: null });

function funded(lamports = 10n * SOL): Wallet {
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, lamports);
  return wallet;
}

/** Nearly empties the wallet, as another of its payments would. */
function impoverish(wallet: Wallet): void {
  node.chain.put(account(wallet.address, new Uint8Array(), SYSTEM_PROGRAM_ADDRESS));
}

test.each<[string, string, Rule]>([
  ['cuts the line', 'getMultipleAccounts', 'cut'],
  ['answers with a page', 'getMultipleAccounts', { status: 502, body: '<html>' }],
  ['answers 429', 'getMultipleAccounts', { status: 429, body: '{"error":{"code":429,"message":"slow down"}}' }],
  ['reports no rent', 'getMinimumBalanceForRentExemption', { result: 'much' }],
  ['reports accounts of another shape', 'getMultipleAccounts', { result: { context: { slot: 1 }, value: [null] } }],
  ['reports an account without lamports', 'getMultipleAccounts', { result: { context: { slot: 1 }, value: [{}] } }],
  ['does not simulate', 'simulateTransaction', { result: { context: { slot: 1 }, value: {} } }],
])('an RPC node that %s gives no result, and is called again later', async (_name, method, rule) => {
  const intent = payment(funded().address);
  about(method, rule);
  const quote = await lying().quote(intent, null);
  expect(quote.ok ? 'fine' : quote.refusal.kind).toBe('transient');
  expect(JSON.stringify(quote)).not.toContain('k3yk3yk3yk3y');
});

test('an RPC node of another cluster gives no quote and receives no bytes', async () => {
  const intent = payment(funded().address);
  about('getGenesisHash', { result: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' });
  const quote = await lying().quote(intent, null);
  expect(quote).toMatchObject({ ok: false, refusal: { kind: 'transient', detail: expect.stringContaining('5eykt4') } });
  expect(liar.requests).toEqual(['getGenesisHash']);
  expect((await clientAt(liar.url, node.url).quote(intent, null)).ok).toBe(true);
  expect((await clientAt().quote(intent, null)).ok).toBe(false);
});

test('a balance in lamports is read exactly, however large it is', async () => {
  const wallet = stranger();
  const owner = '11111111111111111111111111111111';
  const held = '{"lamports":590000000123456789,"owner":"' + owner + '","data":["","base64"],"executable":false}';
  const body = `{"jsonrpc":"2.0","id":1,"result":{"context":{"slot":9},"value":[${held}]}}`;
  about('getMultipleAccounts', { status: 200, body });
  const holdings = await lying().holdings(wallet, [NATIVE], false);
  expect(holdings).toEqual({
    ok: true,
    value: holdingsAt(9, [590_000_000_123_456_789n]),
  });
});

test('reading an answer that never ends is aborted', async () => {
  about('getGenesisHash', { status: 200, body: `"${'1'.repeat(5_000_000)}"` });
  const seen = await lying().accountNonce(stranger());
  expect(seen.ok).toBe(true);
  const holdings = await lying().holdings(stranger(), [NATIVE], false);
  expect(holdings).toMatchObject({ ok: false, refusal: { detail: 'getGenesisHash: The response is too long.' } });
});

test('a transaction that is only processed is reported neither as included nor as gone', async () => {
  const { hash } = node.chain.airdrop(stranger(), SOL);
  const value = [{ slot: 5, confirmations: 0, err: null, confirmationStatus: 'processed' }];
  about('getSignatureStatuses', { result: { context: { slot: 5 }, value } });
  expect(await lying().activity(hash, null)).toEqual({ ok: true, value: null });
  const wallet = funded();
  const intent = payment(wallet.address);
  const client = clientAt(node.url);
  const quote = await client.quote(intent, null);
  const anchor = await client.anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!quote.ok || !anchor.ok) throw new Error('the real node is fine');
  const newest = attemptOf(client.rules.compose(intent, quote.value, anchor.value));
  const watched = { from: wallet.address, nonce: 0n, hashes: [hash], newest, inclusion: null };
  expect(await lying().observe(watched)).toEqual({
    ok: true,
    value: { type: 'absent', inMempool: true, nonceTaken: false },
  });
});

/** Returns two signed openings of one nonce slot, of which neither has been sent. */
async function twoOpenings(wallet: Wallet, amount = 8n * SOL) {
  const client = clientAt(node.url);
  const intent = payment(wallet.address, { amount: units(amount) });
  const attempts: Attempt[] = [];
  const hashes: string[] = [];
  const raws: string[] = [];
  for (const number of [1, 2]) {
    const replaced = attempts[0] ?? null;
    const quote = await client.quote(intent, replaced);
    const anchor = await client.anchor({ from: wallet.address, nonce: 0n, replaced });
    if (!quote.ok || !anchor.ok) throw new Error('the real node is fine');
    const attempt = attemptOf(client.rules.compose(intent, quote.value, anchor.value), number);
    const assembled = client.rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
    if (!assembled.ok) throw new Error(assembled.refusal.detail);
    attempts.push(attempt);
    hashes.push(assembled.value.hash);
    raws.push(assembled.value.raw);
  }
  const newest = present(attempts[1]);
  const watched = { from: wallet.address, nonce: 0n, hashes, newest, inclusion: null };
  const send = (i: number) => client.broadcast(raws[i] ?? '', hashes[i] ?? '');
  return { client, hashes, watched, send };
}

/** Returns an RPC node's answer with the statuses of two signatures. */
const statuses = (...value: (object | null)[]): Rule => ({ result: { context: { slot: 5 }, value } });
const FAILED = {
  slot: 5,
  confirmations: null,
  err: { InstructionError: [1, { Custom: 0 }] },
  confirmationStatus: 'finalized',
};

test('an RPC node that shows the failed opening and not the executed one does not prove a failure', async () => {
  const { watched, hashes, send } = await twoOpenings(funded());
  expect(await send(0)).toEqual({ outcome: 'accepted' });
  // The second opening fails, because the first has opened the account. Long after that the RPC
  // node has lost the status of the first.
  expect(await send(1)).toEqual({ outcome: 'accepted' });
  node.chain.advance(200n);
  const lost = (isNamed: boolean) =>
    liar.follow((method) => {
      if (method === 'getSignatureStatuses') return statuses(null, FAILED);
      return method === 'getSignaturesForAddress' && !isNamed ? { result: [] } : 'forward';
    });
  lost(false);
  expect(await lying().observe(watched)).toMatchObject({
    ok: false,
    refusal: { detail: expect.stringContaining('does not have opened the account') },
  });
  // The RPC node finds the executed opening among the transactions that name the account.
  lost(true);
  const paid = { type: 'included', inclusion: { hash: hashes[0], succeeded: true } };
  expect(await lying().observe(watched)).toMatchObject({ ok: true, value: paid });
});

test('an opening that is executed between two calls is found', async () => {
  const { watched, hashes, send } = await twoOpenings(funded());
  await send(1);
  node.chain.advance(200n);
  let requestCount = 0;
  // At the first call the RPC node knows only the failed opening.
  liar.follow((method) => {
    if (method === 'getMultipleAccounts') return { result: { context: { slot: 1 }, value: [null] } };
    return method === 'getSignatureStatuses' && requestCount++ === 0 ? statuses(FAILED, null) : 'forward';
  });
  const paid = { type: 'included', inclusion: { hash: hashes[1], succeeded: true } };
  expect(await lying().observe(watched)).toMatchObject({ ok: true, value: paid });
});

test('an RPC node that is behind the block of a recorded failure does not undo the failure', async () => {
  const wallet = funded();
  const { client, watched, send } = await twoOpenings(wallet);
  impoverish(wallet);
  await send(0);
  const alone = { ...watched, hashes: watched.hashes.slice(0, 1) };
  const seen = await client.observe(alone);
  if (!seen.ok || seen.value.type !== 'included') throw new Error('it has failed');
  const { inclusion } = seen.value;
  expect([inclusion.succeeded, await client.observe({ ...watched, inclusion })]).toMatchObject([false, { ok: false }]);
  const elsewhere = { ...inclusion, blockHash: 'another' };
  expect(await client.observe({ ...watched, inclusion: elsewhere })).toEqual({
    ok: true,
    value: { type: 'absent', inMempool: false, nonceTaken: false },
  });
});

test('an old nonce value on a lagging RPC node is not taken for a used nonce', async () => {
  const wallet = funded();
  const first = await twoOpenings(wallet, SOL);
  await first.send(0);
  const old = node.chain.account(nonceAccountOf(wallet.address, 0));
  const { client } = first;
  const intent = payment(wallet.address);
  const composed = async () => {
    const quote = await client.quote(intent, null);
    const anchor = await client.anchor({ from: wallet.address, nonce: 0n, replaced: null });
    if (!quote.ok || !anchor.ok) throw new Error('the real node is fine');
    return attemptOf(client.rules.compose(intent, quote.value, anchor.value));
  };
  const before = await composed();
  const assembled = client.rules.assemble(intent, before, [wallet.sign(before.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  await client.broadcast(assembled.value.raw, assembled.value.hash);
  const newest = await composed();
  const watched = { from: wallet.address, nonce: 0n, hashes: ['1'.repeat(64)], newest, inclusion: null };
  const plain = (slot: bigint) => Number.parseInt(slot.toString(), 10);
  /** @param reported the slot of the RPC node that is called for the transaction itself */
  const rooted = (slot: bigint, reported = slot) => {
    const data = [Buffer.from(old?.data ?? []).toString('base64'), 'base64'];
    const value = [{ lamports: 1_447_680, owner: '11111111111111111111111111111111', data, executable: false }];
    const accounts = { result: { context: { slot: plain(slot) }, value } };
    const rules: Readonly<Record<string, Rule>> = {
      getSignatureStatuses: { result: { context: { slot: plain(reported) }, value: [null] } },
      getMultipleAccounts: accounts,
    };
    liar.follow((method) => rules[method] ?? 'forward');
  };
  const anchoredAt = BigInt(newest.anchoredAt ?? '0');
  about('getSignatureStatuses', statuses(null));
  expect(await lying().observe(watched)).toMatchObject({ ok: true, value: { type: 'absent', nonceTaken: false } });
  rooted(anchoredAt - 1n);
  expect(await lying().observe(watched)).toMatchObject({
    ok: false,
    refusal: { detail: expect.stringContaining('behind') },
  });
  rooted(anchoredAt + 9n, anchoredAt + 8n);
  expect(await lying().observe(watched)).toMatchObject({
    ok: false,
    refusal: { detail: 'The RPC node is behind the last valid block of the attempt.' },
  });
  rooted(anchoredAt);
  // The RPC node reports that the nonce is used, and no RPC node shows by which transaction.
  const unexplained = { type: 'absent', nonceTaken: false, isUnexplained: true };
  expect(await lying().observe(watched)).toMatchObject({ ok: true, value: unexplained });
});

test('an RPC node that reports one transaction as both failed and successful is refused', async () => {
  const { watched, send } = await twoOpenings(funded(), SOL);
  await send(0);
  about('getSignatureStatuses', statuses({ ...FAILED, slot: Number.parseInt(node.chain.slot.toString(), 10) }, FAILED));
  expect(await lying().observe(watched)).toMatchObject({
    ok: false,
    refusal: { detail: expect.stringContaining('as failed and as successful') },
  });
});

test('a balance changes only if two RPC nodes report the same change', async () => {
  const wallet = funded(3n * SOL);
  const mint = newToken(node.chain);
  mintTo(node.chain, mint, wallet.address, 7n);
  liar.follow(() => 'forward');
  const agreed = await clientAt(node.url, liar.url).holdings(wallet.address, [NATIVE, spl(mint)], true);
  expect(agreed.ok && [unitsIn(agreed.value), agreed.value.isDisputed]).toEqual([[(3n * SOL).toString(), '7'], false]);
  about('getTokenAccountsByOwner', { result: { context: { slot: 1 }, value: [] } });
  const disputed = await clientAt(node.url, liar.url).holdings(wallet.address, [NATIVE, spl(mint)], true);
  expect(disputed.ok && [unitsIn(disputed.value), disputed.value.isDisputed]).toEqual([
    [(3n * SOL).toString(), 'not-read'],
    true,
  ]);
  about('getMultipleAccounts', 'cut');
  expect((await clientAt(node.url, liar.url).holdings(wallet.address, [NATIVE], true)).ok).toBe(false);
});

test('a scan finds all transactions of a wallet, including those of its token accounts, page by page', async () => {
  const wallet = funded();
  const rich = stranger();
  node.chain.airdrop(rich, SOL);
  const mint = newToken(node.chain);
  mintTo(node.chain, mint, rich, 100n);
  const first = payTokens(node.chain, mint, { from: rich, to: wallet.address, amount: 1n });
  const since = node.chain.slot;
  const second = payTokens(node.chain, mint, { from: rich, to: wallet.address, amount: 2n });
  const whole = await clientAt(node.url).scan(wallet.address, null);
  if (!whole.ok) throw new Error(whole.refusal.detail);
  expect(whole.value.hashes).toEqual(expect.arrayContaining([first, second]));
  const late = await clientAt(node.url).scan(wallet.address, since.toString());
  expect(late.ok && [late.value.hashes, late.value.tokens.fromBlock]).toEqual([[second], (since + 1n).toString()]);

  const mentions = (start: number) =>
    Array.from({ length: 1_000 }, (_, i) => ({ signature: `sig${start + i}`, slot: 900_000 - start - i, err: null }));
  liar.follow((method, params) => {
    if (method === 'getSlot') return { result: 900_000 };
    if (method !== 'getSignaturesForAddress') return 'forward';
    const { before } = params[1] as { readonly before?: string };
    return { result: mentions(before === undefined ? 0 : Number.parseInt(before.slice(3), 10) + 1) };
  });
  const many = await lying().scan(stranger(), '100');
  // One scan reads five thousand transactions; the range states how far back the scan went.
  expect(many.ok && [many.value.hashes.length, many.value.payments]).toEqual([
    5_000,
    { fromBlock: '895002', toBlock: '900000' },
  ]);
});

test('the metadata of a token is read only from Metaplex', async () => {
  const mint = newToken(node.chain, 4);
  expect(await clientAt(node.url).token(mint)).toEqual({
    ok: true,
    value: { name: null, symbol: null, decimals: 4 },
  });
  const text = (value: string, length: number) => {
    const bytes = Buffer.alloc(4 + length);
    bytes.writeUInt32LE(length);
    bytes.write(value, 4);
    return bytes;
  };
  const data = Buffer.concat([Buffer.from([4]), Buffer.alloc(64), text('Demo\u202E Dollar', 32), text('DUSD', 10)]);
  const at = derivedAddress([Buffer.from('metadata'), bytesOf(METADATA), bytesOf(mint)], METADATA);
  node.chain.put(account(at, new Uint8Array(data), METADATA));
  const named = { name: 'Demo Dollar', symbol: 'DUSD', decimals: 4 };
  expect(await clientAt(node.url).token(mint)).toEqual({ ok: true, value: named });
  node.chain.put(account(at, new Uint8Array(data), TOKEN_PROGRAM_ADDRESS));
  expect(await clientAt(node.url).token(mint)).toEqual({ ok: true, value: { ...named, name: null, symbol: null } });
  node.chain.put(account(at, new Uint8Array(data.subarray(0, 70)), METADATA));
  expect((await clientAt(node.url).token(mint)).ok).toBe(true);
});

test('a recipient whose token account was given away or frozen is refused with the reason', async () => {
  const wallet = funded();
  const mint = newToken(node.chain);
  mintTo(node.chain, mint, wallet.address, 100n);
  const [to, thief] = [stranger(), stranger()];
  const put = (owner: Address, state: 1 | 2) => {
    const held = {
      mint,
      owner,
      amount: 0n,
      delegate: null,
      state,
      isNative: null,
      delegatedAmount: 0n,
      closeAuthority: null,
    };
    node.chain.put(
      account(tokenAccountOf(to, mint), Uint8Array.from(getTokenEncoder().encode(held)), TOKEN_PROGRAM_ADDRESS),
    );
  };
  const quote = async () => {
    const answer = await clientAt(node.url).quote(
      payment(wallet.address, { to, tokenAddress: mint, amount: units(1n) }),
      null,
    );
    return !answer.ok && answer.refusal.kind === 'permanent' ? answer.refusal.reason : 'fine';
  };
  put(thief, 1);
  expect(await quote()).toBe('RECIPIENT_REFUSED');
  put(to, 2);
  expect(await quote()).toBe('TOKEN_REFUSED');
  put(to, 1);
  expect(await quote()).toBe('fine');
});

test('a payment that would leave less than the rent minimum is refused, and one of the whole balance is not', async () => {
  const wallet = funded(SOL);
  const reason = async (amount: bigint) => {
    const answer = await clientAt(node.url).quote(payment(wallet.address, { amount: units(amount) }), null);
    return answer.ok ? 'fine' : answer.refusal.kind === 'permanent' ? answer.refusal.reason : answer.refusal.kind;
  };
  expect(await reason(SOL - 2_000_000n)).toBe('INSUFFICIENT_FUNDS');
  expect(await reason(SOL / 2n)).toBe('fine');
  expect(await reason(SOL)).toBe('INSUFFICIENT_FUNDS');
  expect(await reason(0n)).toBe('fine');
});

test('prices follow the market, up to the fee cap', async () => {
  const wallet = funded();
  const paid = (price: number) => ({
    result: Array.from({ length: 150 }, () => ({ slot: 1, prioritizationFee: price })),
  });
  about('getRecentPrioritizationFees', paid(2_000_000));
  const quote = await lying().quote(payment(wallet.address), null);
  expect(quote.ok && quote.value.unitPrice).toBe(2_000_000n);
  const estimate = await lying().estimate(payment(wallet.address));
  if (!estimate.ok) throw new Error('it can be estimated');
  const { slow, normal, fast } = estimate.value;
  expect([slow.unitPrice, normal.unitPrice, fast.unitPrice]).toEqual(['2000000', '2000000', '3000000']);
  // The fee cap bounds the price.
  about('getRecentPrioritizationFees', paid(2 ** 50));
  const dear = await lying().quote(payment(wallet.address), null);
  expect(dear.ok && BigInt(dear.value.maxFee) <= 20_000_000n).toBe(true);
  about('getRecentPrioritizationFees', 'cut');
  const floor = await lying().quote(payment(wallet.address), null);
  expect(floor.ok && floor.value.unitPrice).toBe(100_000n);
});
