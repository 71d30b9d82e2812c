import { expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { permanent, shortOf } from '#chains/permanent-fault.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Spending } from '#domain/wallet/reservation.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { NonceFault } from '#jobs/signing/nonce-allocation.ts';
import { allocateNonce, reserveFor, fundsFault } from '#jobs/signing/nonce-allocation.ts';
import { releaseNonce } from '#jobs/signing/release-nonce.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type {
  AllocationResult,
  AllocationRequest,
  ReservationRequest,
  ReservationFault,
} from '#objects/wallet-nonce/object.ts';
import { anvilChain } from '../../chains/evm/local-chain.ts';
import { inclusion, NOON_MS, transactionIn, vaultId } from '../../domain/cast.ts';
import { vaultStandIn } from '../../objects/vault/vault-stand-in.ts';

/**
 * Covers how the jobs reserve the spending of a transaction, with a simulated allocator and vault.
 */

const id = newTransactionId(vaultId, NOON_MS, new Uint8Array(10).fill(1));
const TOKEN = '0x00000000000000000000000000000000000000AA';
const native = (units: bigint) => ({ tokenAddress: null, amount: amountOf(units) });
const tokens = (units: bigint) => ({ tokenAddress: TOKEN, amount: amountOf(units) });

const SPENDING: Spending = {
  amounts: [native(7n)],
  funds: { blockNumber: '9', nonceCount: '0', holds: [native(100n)], least: amountOf(0n) },
};

const OTHER = { transactionId: 'other', nonce: '0', amounts: [native(60n)], includedIn: '8' };
const WAITING = { transactionId: 'waiting', nonce: null, amounts: [], includedIn: null };

interface Held {
  readonly transactionId: string;
  readonly nonce: string | null;
  readonly amounts: readonly AssetAmount[];
  readonly includedIn: string | null;
  readonly isFinalForOneNode?: boolean;
  readonly hasEnded?: boolean;
  readonly payload?: string;
}

const COUNTS = accepted({ latest: 0n, pending: 0n });

/** The scene of one job run. `requests` has the requests of the jobs to the allocator. */
class Scene {
  readonly requests: (AllocationRequest | ReservationRequest)[] = [];
  readonly ended: object[] = [];
  readonly released: string[] = [];
  readonly recorded: TransactionEvent[] = [];
  held: readonly Held[] = [OTHER, WAITING];
  readonly transaction: Transaction;
  readonly #answer: AllocationResult;

  constructor(answer: AllocationResult, differences: Partial<Transaction> = {}) {
    this.#answer = answer;
    this.transaction = transactionIn('SIGNING', { id, ...differences });
  }

  get env(): CoordinatorEnv {
    const answered = async (request: AllocationRequest | ReservationRequest) => {
      this.requests.push(request);
      return this.#answer;
    };
    const allocator = {
      allocate: answered,
      reserve: async (request: ReservationRequest) => {
        const answer = await answered(request);
        return answer.nonce === null ? answer : null;
      },
      end: async (ending: object) => void this.ended.push(ending),
      release: async ({ transactionId }: { transactionId: string }) => void this.released.push(transactionId),
    };
    return { WALLET_NONCE: { getByName: () => allocator } } as unknown as CoordinatorEnv;
  }

  get vault() {
    return vaultStandIn({
      heldNonces: () => this.held,
      transactionWork: () => ({ transaction: this.transaction, chain: anvilChain() }),
      recordEvent: ({ event }: { readonly event: TransactionEvent }) => void this.recorded.push(event),
    });
  }

  get allocation() {
    const client = clientFor(anvilChain(), []);
    return { env: this.env, vault: this.vault, client, transaction: this.transaction, spending: SPENDING };
  }
}

test('a nonce request contains the spending of its transaction and of the others that the vault knows', async () => {
  const scene = new Scene({ nonce: '3', reserved: [native(7n)] });
  const given = { nonce: '3', reserved: [native(7n)], predecessors: [] };
  expect(await allocateNonce(scene.allocation, COUNTS)).toEqual(accepted(given));
  expect(scene.requests).toEqual([{ transactionId: id, latest: '0', pending: '0', held: [OTHER], spending: SPENDING }]);
  expect(await reserveFor(scene.allocation)).toBeNull();
  expect(scene.requests.at(-1)).toEqual({ transactionId: id, held: [OTHER], spending: SPENDING });
});

test('a nonce slot comes with the bytes of each payment that one node alone reports as final at it', async () => {
  const scene = new Scene({ nonce: '0' });
  const released = { ...OTHER, isFinalForOneNode: true, payload: '0x01' };
  const elsewhere = { ...released, transactionId: 'elsewhere', nonce: '1', payload: '0x02' };
  const kept = { ...OTHER, transactionId: 'kept', payload: '0x03' };
  scene.held = [released, elsewhere, kept];
  const { client } = scene.allocation;
  const slots = { ...client, rules: { ...client.rules, ordering: { by: 'nonce-slots', slots: 16 } as const } };
  const given = await allocateNonce({ ...scene.allocation, client: slots }, COUNTS);
  expect(given).toEqual(accepted({ nonce: '0', predecessors: ['0x01'] }));
  expect(scene.requests).toMatchObject([{ slots: 16, held: [{ isReleased: true }, {}, { transactionId: 'kept' }] }]);
  expect(JSON.stringify(scene.requests)).not.toContain('0x0');
});

test('the slot of a payment that a person ended comes last, and an ended account nonce is not held', async () => {
  const scene = new Scene({ nonce: '0' });
  const ended = { ...OTHER, transactionId: 'ended', hasEnded: true };
  scene.held = [ended, OTHER];
  const { client } = scene.allocation;
  const slots = { ...client, rules: { ...client.rules, ordering: { by: 'nonce-slots', slots: 16 } as const } };
  await allocateNonce({ ...scene.allocation, client: slots }, COUNTS);
  await allocateNonce(scene.allocation, COUNTS);
  expect(scene.requests).toMatchObject([
    { held: [{ transactionId: 'ended', isReleased: true }, { transactionId: 'other' }] },
    { held: [{ transactionId: 'other' }] },
  ]);
});

const UNRESERVED: readonly (readonly [string, ReservationFault, NonceFault['kind']])[] = [
  ['beside others', { nonce: null, why: 'in-flight', others: ['other'] }, 'in-flight'],
  ['by itself', { nonce: null, why: 'in-flight', others: [] }, 'permanent'],
  ['with balances that are old', { nonce: null, why: 'stale' }, 'transient'],
];

test.each(UNRESERVED)(
  'a payment that does not fit %s is refused with the matching reason, in a first and a further attempt',
  async (...row) => {
    const [, answer, kind] = row;
    const scene = new Scene(answer);
    expect(await allocateNonce(scene.allocation, COUNTS)).toMatchObject(refused({ kind }));
    expect(await reserveFor(scene.allocation)).toMatchObject({ kind });
    expect(scene.released).toEqual([]);
  },
);

test('a payment above the balance releases its reservation, and one that only waits does not', async () => {
  const scene = new Scene({ nonce: null, why: 'in-flight', others: ['gone', 'other', 'waiting'] });
  expect(await allocateNonce(scene.allocation, COUNTS)).toEqual(refused({ kind: 'in-flight' }));
  expect(scene.released).toEqual(['gone']);
});

test('a payment waits instead of failing if unsettled payments of its wallet spent the missing amount', async () => {
  const scene = new Scene({ nonce: null, why: 'unproven' });
  const want = (refusal: NonceFault) => fundsFault(scene.allocation, refusal);
  const short = (units: bigint) => shortOf(null, units, 'poor');
  expect(await want(short(60n))).toEqual({ kind: 'in-flight' });
  expect(await want(permanent('INSUFFICIENT_FUNDS'))).toEqual({ kind: 'in-flight' });
  for (const other of [short(61n), shortOf(TOKEN, 1n, 'poor'), permanent('SIMULATION_REVERTED')]) {
    expect(await want(other)).toBe(other);
  }
  expect(await want({ kind: 'busy' })).toEqual({ kind: 'busy' });
  // An earlier attempt of the payment itself does not count as another payment.
  scene.held = [{ ...OTHER, transactionId: id }];
  expect(await want(short(1n))).toEqual(short(1n));
});

test('a token transfer that would revert waits only for other transfers of that token', async () => {
  const { intent } = transactionIn('SIGNING');
  if (intent.kind !== 'transfer') throw new Error('the cast pays');
  const scene = new Scene({ nonce: null, why: 'unproven' }, { intent: { ...intent, tokenAddress: TOKEN } });
  const reverted = permanent('SIMULATION_REVERTED', 'transfer amount exceeds balance');
  expect(await fundsFault(scene.allocation, reverted)).toBe(reverted);
  scene.held = [{ ...OTHER, amounts: [native(3n), tokens(60n)] }];
  expect(await fundsFault(scene.allocation, reverted)).toEqual({ kind: 'in-flight' });
});

test('the allocator gets the block of a settled transaction, or null if no block includes it', async () => {
  const mined = new Scene({ nonce: '0' }, { state: 'SUCCEEDED', inclusion: inclusion({ blockNumber: '77' }) });
  await releaseNonce(mined.env, mined.vault, id);
  expect(mined.ended).toEqual([{ transactionId: id, isSpent: true, includedIn: '77', keepsCoins: false }]);
  const failed = new Scene({ nonce: '0' }, { state: 'FAILED', inclusion: null });
  await releaseNonce(failed.env, failed.vault, id);
  expect(failed.ended).toEqual([{ transactionId: id, isSpent: false, includedIn: null, keepsCoins: false }]);
  expect(failed.recorded).toEqual([{ type: 'settle', keepsCoins: false }]);
});
