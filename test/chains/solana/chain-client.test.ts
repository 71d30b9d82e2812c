import { verify } from 'node:crypto';
import { getBase58Encoder } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Observation } from '#chains/observation.ts';
import { bytesOf, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Attempt, Inclusion } from '#domain/transaction/transaction.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { mintTo, newToken } from '#local/solana/tokens.ts';
import { present } from '../evm/cast.ts';
import { ed25519Key } from '../../mpc/ed25519-key.ts';
import { clientAt, attemptOf, message, payment, stranger, units, Wallet } from './cast.ts';
import { unitsIn } from '../readings.ts';

/** Covers each step of a payment, in the order of the jobs, on the real virtual machine. */

const SOL = 1_000_000_000n;

let node: SolanaNode;

beforeAll(async () => {
  node = await startSolanaNode();
});
afterAll(() => node.stop());

const client = () => clientAt(node.url);
const balance = (of: Wallet['address']) => node.chain.account(of)?.lamports ?? 0n;

function funded(lamports = 10n * SOL): Wallet {
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, lamports);
  return wallet;
}

interface Signed {
  readonly attempt: Attempt;
  readonly raw: string;
  readonly hash: string;
}

async function signed(
  wallet: Wallet,
  intent: OnChainIntent,
  { slot = 0n, replaced = null }: { slot?: bigint; replaced?: Attempt | null } = {},
): Promise<Signed> {
  const quote = await client().quote(intent, replaced);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const anchor = await client().anchor({ from: wallet.address, nonce: slot, replaced });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const attempt = attemptOf(client().rules.compose(intent, quote.value, anchor.value), (replaced?.number ?? 0) + 1);
  const assembled = client().rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  return { attempt, ...assembled.value };
}

async function sent(wallet: Wallet, intent: OnChainIntent, slot = 0n): Promise<Signed> {
  const one = await signed(wallet, intent, { slot });
  expect(await client().broadcast(one.raw, one.hash)).toEqual({ outcome: 'accepted' });
  return one;
}

async function observed(
  wallet: Wallet,
  attempts: readonly Signed[],
  inclusion: Inclusion | null = null,
): Promise<Observation> {
  const newest = present(attempts.at(-1)).attempt;
  const hashes = attempts.map(({ hash }) => hash);
  const seen = await client().observe({ from: wallet.address, nonce: 0n, hashes, newest, inclusion });
  if (!seen.ok) throw new Error(seen.refusal.detail);
  return seen.value;
}

test('the first payment opens the nonce account of its slot, later ones use it, and each transfers its exact amount', async () => {
  const wallet = funded();
  const first = payment(wallet.address);
  const opening = await sent(wallet, first);
  expect(opening.attempt.validUntil).not.toBeNull();
  expect(balance(present(first.to as Wallet['address']))).toBe(SOL);
  expect(node.chain.account(nonceAccountOf(wallet.address, 0))?.data.length).toBe(80);
  const second = payment(wallet.address, { amount: units(900_000n) });
  const later = await sent(wallet, second);
  expect([later.attempt.validUntil, balance(second.to as Wallet['address'])]).toEqual([null, 900_000n]);

  const seen = await observed(wallet, [later]);
  if (seen.type !== 'included') throw new Error(seen.type);
  const { succeeded, finalized, feePaid, changes, movements } = seen.inclusion;
  expect([succeeded, finalized, changes.map((one) => one.units)]).toEqual([true, true, ['-900000']]);
  expect(movements.map(({ from, to, amount }) => [from, to, amount])).toEqual([[wallet.address, second.to, '900000']]);
  expect(BigInt(feePaid) <= BigInt(later.attempt.maxFee) && BigInt(feePaid) >= 5_000n).toBe(true);
});

test('the same bytes sent many times are executed once', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  const one = await sent(wallet, intent);
  for (let i = 0; i < 5; i++) {
    expect(await client().broadcast(one.raw, one.hash)).toEqual({ outcome: 'accepted' });
    node.chain.advance(40n);
  }
  expect(balance(intent.to as Wallet['address'])).toBe(SOL);
});

test('only one of two openings of one nonce slot is executed, in whatever order they arrive', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const wallet = funded();
    const intent = payment(wallet.address);
    const first = await signed(wallet, intent);
    node.chain.advance(1n);
    const second = await signed(wallet, intent, { replaced: first.attempt });
    expect(second.hash).not.toBe(first.hash);
    const both = [first, second];
    for (const i of order) await client().broadcast(present(both[i]).raw, present(both[i]).hash);
    expect(balance(intent.to as Wallet['address'])).toBe(SOL);
    // The other opening is on the chain as well, as failed.
    const seen = await observed(wallet, both);
    const paid = present(both[order[0] ?? 0]).hash;
    expect(seen).toMatchObject({ type: 'included', inclusion: { hash: paid, succeeded: true } });
  }
});

test('a failed opening ends the payment only when no other attempt can be executed any more', async () => {
  const wallet = funded();
  const intent = payment(wallet.address, { amount: units(8n * SOL) });
  const first = await signed(wallet, intent);
  node.chain.advance(100n);
  const second = await signed(wallet, intent, { replaced: first.attempt });
  await sent(wallet, payment(wallet.address, { amount: units(5n * SOL) }), 1n);
  await client().broadcast(first.raw, first.hash);
  const waits = { type: 'absent', inMempool: false, nonceTaken: false };
  expect(await observed(wallet, [first])).toMatchObject({ type: 'included', inclusion: { succeeded: false } });
  expect(await observed(wallet, [first, second])).toEqual(waits);
  // The second attempt can be executed until its blockhash is too old and beyond every fork.
  node.chain.advance(140n);
  expect(await observed(wallet, [first, second])).toEqual(waits);
  node.chain.airdrop(wallet.address, 10n * SOL);
  await client().broadcast(second.raw, second.hash);
  const paid = { type: 'included', inclusion: { hash: second.hash, succeeded: true } };
  expect(await observed(wallet, [first, second])).toMatchObject(paid);
});

test('a failed opening ends the payment when the blockhashes of the other attempts have expired', async () => {
  const wallet = funded();
  const intent = payment(wallet.address, { amount: units(8n * SOL) });
  const first = await signed(wallet, intent);
  const second = await signed(wallet, intent, { replaced: first.attempt });
  await sent(wallet, payment(wallet.address, { amount: units(5n * SOL) }), 1n);
  await client().broadcast(first.raw, first.hash);
  node.chain.advance(151n);
  const failed = { type: 'included', inclusion: { hash: first.hash, succeeded: false } };
  expect(await observed(wallet, [first, second])).toMatchObject(failed);
});

test('an opening lapses when its blockhash has expired, and not before, and another attempt replaces it', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  const first = await signed(wallet, intent);
  node.chain.advance(150n);
  expect(await observed(wallet, [first])).toEqual({ type: 'absent', inMempool: false, nonceTaken: false });
  node.chain.advance(1n);
  expect(await observed(wallet, [first])).toEqual({ type: 'lapsed' });
  await client().broadcast(first.raw, first.hash);
  expect(balance(intent.to as Wallet['address'])).toBe(0n);
  const second = await signed(wallet, intent, { replaced: first.attempt });
  await client().broadcast(second.raw, second.hash);
  expect(balance(intent.to as Wallet['address'])).toBe(SOL);
  expect((await observed(wallet, [first, second])).type).toBe('included');
});

test('an opening is reported as lapsed only if no fork can still hold it', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  const first = await signed(wallet, intent);
  node.chain.finalityDepth = 32n;
  node.chain.advance(160n);
  expect((await observed(wallet, [first])).type).toBe('absent');
  node.chain.advance(30n);
  expect((await observed(wallet, [first])).type).toBe('lapsed');
  node.chain.finalityDepth = 0n;
});

test('bytes on a durable nonce never expire, and of two attempts at one nonce only one is executed', async () => {
  const wallet = funded();
  await sent(wallet, payment(wallet.address));
  const intent = payment(wallet.address);
  const slow = await signed(wallet, intent);
  node.chain.advance(1_000n);
  expect(await observed(wallet, [slow])).toEqual({ type: 'absent', inMempool: false, nonceTaken: false });
  const fast = await signed(wallet, intent, { replaced: slow.attempt });
  await client().broadcast(fast.raw, fast.hash);
  await client().broadcast(slow.raw, slow.hash);
  expect(balance(intent.to as Wallet['address'])).toBe(SOL);
  const seen = await observed(wallet, [slow, fast]);
  expect(seen.type === 'included' && seen.inclusion.hash).toBe(fast.hash);
});

test('a cancellation uses the nonce, and the cancelled payment can never be executed', async () => {
  const wallet = funded();
  await sent(wallet, payment(wallet.address));
  const intent = payment(wallet.address);
  const unwanted = await signed(wallet, intent);
  const cancel = await signed(wallet, actionOfAttempt(intent, 'cancellation'), { replaced: unwanted.attempt });
  await client().broadcast(cancel.raw, cancel.hash);
  await client().broadcast(unwanted.raw, unwanted.hash);
  expect(balance(intent.to as Wallet['address'])).toBe(0n);
  expect(await observed(wallet, [unwanted])).toMatchObject({ type: 'absent', inMempool: false, nonceTaken: true });
  const seen = await observed(wallet, [unwanted, cancel]);
  expect(seen.type === 'included' && seen.inclusion.changes.map((one) => one.units)).toEqual([]);
});

test('payments in two nonce slots are in flight at once, and neither waits for the other', async () => {
  const wallet = funded();
  const intents = [0, 1, 2].map(() => payment(wallet.address));
  const all: Signed[] = [];
  for (const [i, intent] of intents.entries()) all.push(await signed(wallet, intent, { slot: BigInt(i) }));
  for (const one of all.toReversed()) await client().broadcast(one.raw, one.hash);
  for (const intent of intents) expect(balance(intent.to as Wallet['address'])).toBe(SOL);
});

test('a wallet can send its last lamport, and no amount that leaves less than an account must hold', async () => {
  const wallet = funded();
  const to = stranger();
  await sent(wallet, payment(wallet.address, { to, amount: units(SOL) }));
  const all = balance(wallet.address);
  // The fee of the quote is exact: the signature, and the price of the compute units.
  const quote = await client().quote(payment(wallet.address, { to, amount: units(SOL) }), null);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const { maxFee } = quote.value;
  const most = all - BigInt(maxFee);
  for (const kept of [1n, 890_879n]) {
    const refused = await client().quote(payment(wallet.address, { to, amount: units(most - kept) }), null);
    expect(refused).toMatchObject({ ok: false, refusal: { kind: 'permanent', reason: 'INSUFFICIENT_FUNDS' } });
  }
  await sent(wallet, payment(wallet.address, { to, amount: units(most) }));
  expect([balance(wallet.address), balance(to)]).toEqual([0n, SOL + most]);
});

test('a payment that fails on the chain costs its fee, moves nothing, and uses its nonce', async () => {
  const wallet = funded();
  await sent(wallet, payment(wallet.address));
  const [large, other] = [8n, 2n].map((sol) => payment(wallet.address, { amount: units(sol * SOL) }));
  const [first, second] = [present(large), present(other)];
  const doomed = await signed(wallet, first, { slot: 0n });
  await sent(wallet, second, 1n);
  await client().broadcast(doomed.raw, doomed.hash);
  const dearer = await signed(wallet, payment(wallet.address), { slot: 2n });
  // All attempts use the same nonce, so none of the others can be executed any more.
  const seen = await observed(wallet, [doomed, { ...dearer, attempt: doomed.attempt }]);
  if (seen.type !== 'included') throw new Error(seen.type);
  const { succeeded, failure, changes, feePaid } = seen.inclusion;
  expect([succeeded, failure, changes]).toEqual([false, '{"InstructionError":[3,{"Custom":1}]}', []]);
  expect(BigInt(feePaid)).toBeGreaterThanOrEqual(5_000n);
  const again = await signed(wallet, payment(wallet.address, { amount: units(1n * SOL) }), { slot: 0n });
  node.chain.advance(200n);
  expect(await client().broadcast(doomed.raw, doomed.hash)).toEqual({ outcome: 'accepted' });
  await client().broadcast(again.raw, again.hash);
  expect((await observed(wallet, [again])).type).toBe('included');
  expect(balance(first.to as Wallet['address'])).toBe(0n);
});

test('tokens move between token accounts, and a recipient without one gets an account', async () => {
  const wallet = funded();
  const mint = newToken(node.chain);
  mintTo(node.chain, mint, wallet.address, 5_000_000n);
  const to = stranger();
  const intent = payment(wallet.address, { to, tokenAddress: mint, amount: units(1_500_000n) });
  const one = await sent(wallet, intent);
  const held = await client().holdings(to, [{ kind: 'spl', tokenAddress: mint, tokenId: null }], false);
  expect(held.ok && unitsIn(held.value)).toEqual(['1500000']);
  const seen = await observed(wallet, [one]);
  if (seen.type !== 'included') throw new Error(seen.type);
  const { changes, movements } = seen.inclusion;
  // The two rents are paid into the recipient's token account and the wallet's nonce account.
  expect(changes.map(({ kind, units: moved }) => [kind, moved])).toEqual([
    ['native', '-3486960'],
    ['spl', '-1500000'],
  ]);
  expect(movements.some(({ to: account }) => account === tokenAccountOf(to, mint))).toBe(true);
  const quote = await client().quote(intent, null);
  expect(quote.ok && quote.value.token).toEqual({ decimals: 6, opensAccount: false });
});

test('each speed is quoted at the price of its estimate', async () => {
  const intent = payment(funded().address);
  const estimated = await client().estimate(intent);
  if (!estimated.ok) throw new Error('no estimate');
  const fees: unknown[] = [];
  for (const speed of ['slow', 'normal', 'fast'] as const) {
    const quote = await client().quote(intent, null, { speed });
    fees.push(
      quote.ok ? [quote.value.maxFee, 'unitPrice' in quote.value && String(quote.value.unitPrice)] : quote.refusal,
    );
  }
  const { slow, normal, fast } = estimated.value;
  expect(fees).toEqual([slow, normal, fast].map((tier) => [tier.expectedFee, 'unitPrice' in tier && tier.unitPrice]));
  expect(fees[2]).not.toEqual(fees[1]);
});

test('a simulated payment reports its effects, or why it would fail', async () => {
  const wallet = funded();
  const rich = await client().simulate(payment(wallet.address));
  expect(rich).toMatchObject({ ok: true, value: { outcome: 'succeeds', allowances: [] } });
  const moved = rich.ok && rich.value.outcome === 'succeeds' ? rich.value.movements : [];
  expect(moved.map(({ kind, from }) => [kind, from])).toEqual([['native', wallet.address]]);
  const poor = await client().simulate(payment(new Wallet().address));
  expect(poor).toMatchObject({
    ok: true,
    value: { outcome: 'fails', detail: expect.stringContaining('INSUFFICIENT') as string },
  });
});

test('a payment has the same block, fee and movements as an activity and as an observed attempt', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  const one = await sent(wallet, intent, 0n);
  const activity = await client().activity(one.hash, null);
  if (!activity.ok || activity.value === null) throw new Error('it is there');
  const seen = await observed(wallet, [one]);
  if (seen.type !== 'included') throw new Error(seen.type);
  expect([activity.value.signer, activity.value.fee, activity.value.block?.hash]).toEqual([
    wallet.address,
    seen.inclusion.feePaid,
    seen.inclusion.blockHash,
  ]);
  expect(activity.value.movements).toEqual(seen.inclusion.movements);
});

test('a message is signed as other wallets do, verifies with OpenSSL, and is no transaction', () => {
  const wallet = new Wallet();
  const text = message(wallet.address, 'Sign in to example.com');
  const { payload } = client().rules.composeMessage(text);
  const assembled = client().rules.assembleMessage(text, wallet.sign(payload));
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  const signature = Uint8Array.from(getBase58Encoder().encode(assembled.value));
  const key = ed25519Key(bytesOf(wallet.address));
  const bytes = Buffer.from(payload.slice(2), 'hex');
  expect([signature.length, verify(null, bytes, key, signature), bytes[0]]).toEqual([64, true, 0xff]);
  expect(bytes.subarray(1, 16).toString()).toBe('solana offchain');
  expect(client().rules.assembleMessage({ ...text, message: 'Sign in to example.org' }, wallet.sign(payload)).ok).toBe(
    false,
  );
  expect(client().rules.assembleMessage(text, new Wallet().sign(payload)).ok).toBe(false);
});
