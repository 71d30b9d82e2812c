import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { sign } from '#jobs/signing/sign.ts';
import type { Anvil } from '#local/evm/anvil.ts';
import { startAnvil } from '#local/evm/anvil.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { AllocationRequest } from '#objects/wallet-nonce/object.ts';
import { parseBody, responseOf } from '#cosigner/api/request-body.ts';
import { refused } from '#domain/result.ts';
import { party } from '../../mpc/dealt-key.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import { policy, UNSPENT } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import { anvilRules, approvedTransfer, inVault, newKey, startCosigners } from '../cosigners.ts';
import { vaultStandIn } from '../../objects/vault/vault-stand-in.ts';

/**
 * Tests transactions whose co-signers are unreachable while fees change: the co-signers sign later,
 * with the fee of that time.
 */

const GWEI = 10n ** 9n;
const SIX_MINUTES_MS = 6 * 60_000;

let anvil: Anvil;
let cosigners: Cosigners;
let key: VaultKey;
/** True when each signature needs a receipt of every co-signer. */
const guarded = inVault(8, { ...policy, rules: { ...policy.rules, signOnce: 'every-cosigner' } });
let guardedKey: VaultKey;

beforeAll(async () => {
  anvil = await startAnvil();
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
  guardedKey = await newKey(cosigners.all, { governedBy: guarded });
});
afterAll(async () => {
  await cosigners.stop();
  await anvil.stop();
});
beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

const miner = () => anvilClient(anvil.url);

async function baseFee(baseFeePerGas: bigint): Promise<void> {
  await miner().setNextBlockBaseFeePerGas({ baseFeePerGas });
  await miner().mine({ blocks: 1 });
}

/**
 * Returns a vault with one approved payment at a nonce, and a function that runs its signing job.
 */
async function approvedAt(nonce: string, isGuarded = false) {
  const scope = isGuarded ? { key: guardedKey, governedBy: guarded } : { key, governedBy: policy };
  const { intent, approvals, transaction } = approvedTransfer({ ...scope, nonce: BigInt(nonce) });
  const adopted = { policy: scope.governedBy, mandate: null };
  await miner().setBalance({ address: intent.from as `0x${string}`, value: 10n ** 18n });
  const state: { now: Transaction } = {
    now: { ...transaction, approvals, state: 'SIGNING', nonceHeld: true, attempts: [] },
  };
  const recordEvent = ({ event }: { readonly event: TransactionEvent }) => {
    const decided = decide(state.now, event, { nowMs: Date.now(), policy, spentOf: UNSPENT });
    if (!decided.ok) throw new Error(decided.refusal.code);
    state.now = decided.value.transaction;
    return state.now;
  };
  const { chain } = anvilRules;
  const adoption = { policy: scope.governedBy, adoptedVersions: {} };
  const transactionWork = () => ({ transaction: state.now, chain, key: scope.key, adoption });
  const vault = vaultStandIn({
    recordEvent,
    transactionWork,
    policiesAfter: () => [adopted],
    heldNonces: () => [],
  });
  const settled = { block: 0n };
  const allocator = {
    settledBlock: async () => settled.block.toString(),
    lowerSettledBlock: async ({ head }: { readonly head: string }) => {
      settled.block = BigInt(head);
    },
    allocate: async ({ spending }: AllocationRequest) => ({ nonce, reserved: spending?.amounts ?? [] }),
    reserve: async () => null,
    cancelRelease: async () => {},
    reserveRelease: async () => true,
  };
  const envOf = (there: readonly CosignerClient[]) =>
    ({
      RPC_URLS: JSON.stringify({ anvil: [anvil.url] }),
      WALLET_NONCE: { getByName: () => allocator },
      ...Object.fromEntries(cosigners.all.map(({ index }) => [`COSIGNER_${index}`, bindingOf(index, there)])),
    }) as unknown as CoordinatorEnv;
  return {
    state,
    settled,
    run: async (there: readonly CosignerClient[]) => {
      await sign(envOf(there), vault, transaction.id);
      return state.now;
    },
    /** Makes the prepared bytes older by this time. */
    grow: (ageMs: number) => {
      const attempts = state.now.attempts.map((one) => ({ ...one, preparedAtMs: one.preparedAtMs - ageMs }));
      state.now = { ...state.now, attempts };
    },
  };
}

/**
 * Returns the service binding of one co-signer. A co-signer that is not in `there` answers with
 * status 503.
 */
function bindingOf(index: number, there: readonly CosignerClient[]): Pick<Fetcher, 'fetch'> {
  const client = there.find((one) => one.index === index);
  return {
    fetch: async (input, init) => {
      if (client === undefined) return new Response(null, { status: 503 });
      const request = new Request(input, init);
      const { pathname } = new URL(request.url);
      const content = parseBody(request, new Uint8Array(await request.arrayBuffer()));
      const answer = await client.call(pathname.slice('/v2/'.length), content);
      if (!answer.ok && answer.refusal.code === 'unreachable') return new Response(null, { status: 503 });
      return answer.ok ? responseOf(answer, 2) : Response.json(answer);
    },
  };
}

/** Returns clients of all co-signers, of which one is unreachable. */
function without(absent: number): readonly CosignerClient[] {
  const call: CosignerClient['call'] = async () =>
    refused({ cosigner: party(absent), code: 'unreachable', detail: null, culprit: null });
  return cosigners.all.map((one) => (one.index === absent ? { index: one.index, call } : one));
}

const newest = ({ attempts }: Transaction) => attempts.at(-1);

test('bytes that no co-signer has begun to sign are prepared again at the current price, and signed', async () => {
  await baseFee(GWEI);
  const payment = await approvedAt('0');
  const waiting = await payment.run(cosigners.some(1));
  expect([waiting.stateReason, newest(waiting)?.isAsked]).toEqual(['SIGNER_UNAVAILABLE', false]);
  payment.grow(SIX_MINUTES_MS);
  await baseFee(20n * GWEI);
  const out = await payment.run(cosigners.all);
  expect(out.attempts.map(({ number, nonce, sent }) => [number, nonce, sent?.outcome])).toEqual([[1, '0', 'accepted']]);
  expect(BigInt(newest(out)?.maxFee ?? '0')).toBeGreaterThan(21_000n * 20n * GWEI);
  expect(newest(out)?.payload).not.toBe(newest(waiting)?.payload);
});

test('stale bytes are also prepared again when each signature needs a receipt of every co-signer', async () => {
  for (const [nonce, absent] of [
    ['0', 3],
    ['1', 1],
  ] as const) {
    const there = without(absent);
    await baseFee(GWEI);
    const payment = await approvedAt(nonce, true);
    const waiting = await payment.run(there);
    expect([waiting.stateReason, newest(waiting)?.isAsked]).toEqual(['SIGNER_UNAVAILABLE', false]);
    // A second run that reaches too few co-signers has recorded nothing either.
    expect(newest(await payment.run(there))?.isAsked).toBe(false);
    payment.grow(SIX_MINUTES_MS);
    await baseFee(20n * GWEI);
    const out = await payment.run(cosigners.all);
    expect(out.attempts.map(({ number, sent }) => [number, sent?.outcome])).toEqual([[1, 'accepted']]);
    expect(newest(out)?.payload).not.toBe(newest(waiting)?.payload);
  }
});

test('recent bytes, and bytes that a co-signer may have begun to sign, are signed unchanged', async () => {
  await baseFee(GWEI);
  const young = await approvedAt('1');
  const waiting = await young.run(cosigners.some(2));
  const signed = await young.run(cosigners.all);
  expect([newest(signed)?.payload === newest(waiting)?.payload, newest(signed)?.isAsked]).toEqual([true, true]);
  const begun = await approvedAt('2');
  await begun.run(cosigners.some(2));
  begun.state.now = {
    ...begun.state.now,
    attempts: begun.state.now.attempts.map((one) => ({ ...one, isAsked: true })),
  };
  begun.grow(SIX_MINUTES_MS);
  const before = newest(begun.state.now)?.payload;
  expect(newest(await begun.run(cosigners.all))?.payload).toBe(before);
});

test('a payment waits while the current price exceeds the approved fee, and is signed when the price has fallen', async () => {
  await baseFee(GWEI);
  const payment = await approvedAt('3');
  await payment.run(cosigners.some(3));
  payment.grow(SIX_MINUTES_MS);
  await baseFee(10n ** 15n);
  const above = await payment.run(cosigners.all);
  expect([above.state, above.stateReason, newest(above)?.signed]).toEqual(['SIGNING', 'FEE_ABOVE_CAP', null]);
  await baseFee(GWEI);
  const out = await payment.run(cosigners.all);
  expect([out.state, out.stateReason, newest(out)?.sent?.outcome]).toEqual(['BROADCAST', null, 'accepted']);
});

test('a settled block that never existed stops the wallet for one run of the job', async () => {
  await baseFee(GWEI);
  const payment = await approvedAt('4');
  payment.settled.block = 1_000_000_000_000n;
  const stopped = await payment.run(cosigners.all);
  expect([stopped.stateReason, stopped.attempts]).toEqual(['CHAIN_UNAVAILABLE', []]);
  expect(payment.settled.block).toBe(await miner().getBlockNumber());
  expect((await payment.run(cosigners.all)).attempts).toMatchObject([{ sent: { outcome: 'accepted' } }]);
  // A settled block that the RPC node has not reached yet is kept, and the job waits for it.
  const behind = await approvedAt('5');
  const next = (await miner().getBlockNumber()) + 3n;
  behind.settled.block = next;
  expect([(await behind.run(cosigners.all)).stateReason, behind.settled.block]).toEqual(['CHAIN_UNAVAILABLE', next]);
  await miner().mine({ blocks: 3 });
  expect((await behind.run(cosigners.all)).state).toBe('BROADCAST');
});

test('the transactions of the wallet are counted while its fees are requested', async () => {
  await baseFee(GWEI);
  const payment = await approvedAt('6');
  const counted = Promise.withResolvers<void>();
  const send = globalThis.fetch;
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const call = typeof init?.body === 'string' ? init.body : '';
    if (call.includes('"pending"')) counted.resolve();
    if (call.includes('eth_estimateGas')) await counted.promise;
    return send(input, init);
  });
  expect((await payment.run(cosigners.all)).state).toBe('BROADCAST');
});
