import { expect, test } from 'vitest';
import type { ChainClient } from '#chains/chain-client.ts';
import { clientFor } from '#chains/clients/client-for.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { newTransactionId } from '#domain/id.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { CountTexts } from '#domain/wallet/count-texts.ts';
import { countsIn } from '#domain/wallet/count-texts.ts';
import type { ChainCounts, NonceAllocations } from '#domain/wallet/wallet-nonce.ts';
import { restoreHeld, allocate, blockerOf, lowerFloor, NO_ALLOCATIONS, release } from '#domain/wallet/wallet-nonce.ts';
import { allocateNonce, recordBlocker } from '#jobs/signing/nonce-allocation.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { AllocationRequest } from '#objects/wallet-nonce/object.ts';
import { anvilChain } from '../../chains/evm/local-chain.ts';
import { NOON_MS, sentAttempt, transactionIn, vaultId } from '../../domain/cast.ts';
import { vaultStandIn } from '../../objects/vault/vault-stand-in.ts';

/**
 * Covers how the jobs request a nonce and find its blocker, with a simulated allocator, vault and
 * RPC node.
 */

const a = newTransactionId(vaultId, NOON_MS, new Uint8Array(10).fill(1));
const b = newTransactionId(vaultId, NOON_MS, new Uint8Array(10).fill(2));

class Scene {
  book: NonceAllocations = NO_ALLOCATIONS;
  held: readonly { readonly transactionId: string; readonly nonce: string | null }[] = [];
  readonly recorded: TransactionEvent[] = [];
  readonly requiresProof: boolean[] = [];
  truth: ChainCounts = { latest: 0n, pending: 0n };
  /** The nonce counts that two RPC nodes prove. Null while no second node is reachable. */
  proven: ChainCounts | null = null;

  #allocate({ transactionId, latest, pending, proven, held = [] }: AllocationRequest) {
    const known = held.map((one) => ({ transactionId: one.transactionId, nonce: BigInt(one.nonce) }));
    const counts = countsIn({ latest, pending, ...(proven === undefined ? {} : { proven }) });
    const given = allocate(restoreHeld(this.book, known), transactionId, counts);
    this.book = given.book;
    if (given.nonce !== null) return { nonce: given.nonce.toString() };
    const { waitsFor } = given;
    return waitsFor === null ? { nonce: null, why: 'unproven' } : { nonce: null, why: 'behind', waitsFor };
  }

  allocation(transaction: Transaction) {
    const allocator = {
      allocate: async (request: AllocationRequest) => this.#allocate(request),
      blocker: async ({ transactionId, ...texts }: CountTexts & { transactionId: string }) => {
        const counts = countsIn(texts);
        const book = lowerFloor(this.book, counts, 0n);
        if (book === null) return 'unproven';
        this.book = book;
        return blockerOf(book, transactionId, counts.latest);
      },
      release: async ({ transactionId }: { transactionId: string }) => {
        this.book = release(this.book, transactionId);
      },
    };
    const env = { WALLET_NONCE: { getByName: () => allocator } } as unknown as CoordinatorEnv;
    const client: ChainClient = {
      ...clientFor(anvilChain({ pollIntervalMs: 0 }), []),
      accountNonce: async (_, requiresProof = false) => {
        this.requiresProof.push(requiresProof);
        if (!requiresProof) return accepted(this.truth);
        return this.proven === null ? refused({ detail: 'no node' }) : accepted(this.proven);
      },
    };
    const vault = vaultStandIn({
      heldNonces: () => this.held,
      recordEvent: ({ event }: { readonly event: TransactionEvent }) => void this.recorded.push(event),
    });
    return { env, vault, client, transaction };
  }
}

type Allocation = Parameters<typeof allocateNonce>[0];

async function allocated(allocation: Allocation) {
  const { client, transaction } = allocation;
  return allocateNonce(allocation, await client.accountNonce(transaction.intent.from));
}

const given = (nonce: string) => ({ nonce, predecessors: [] });
const signing = (id: typeof a) => transactionIn('SIGNING', { id });
const waiting = transactionIn('BROADCAST', { id: b, attempts: [sentAttempt()] });

function bookOf(...ids: readonly string[]): NonceAllocations {
  return { ...NO_ALLOCATIONS, owned: new Map(ids.map((id, i) => [id, BigInt(i)])) };
}

test('a nonce that the allocations explain takes one call, and any other nonce requires proof', async () => {
  const scene = new Scene();
  expect(await allocated(scene.allocation(signing(a)))).toEqual(accepted(given('0')));
  expect(scene.requiresProof).toEqual([false]);
  scene.truth = { latest: 4n, pending: 6n };
  expect(await allocated(scene.allocation(signing(b)))).toMatchObject({ refusal: { kind: 'transient' } });
  scene.proven = { ...scene.truth, proven: { latest: 4n, pending: 0n, block: 0n } };
  expect(await allocated(scene.allocation(signing(b)))).toEqual(refused({ kind: 'unproven' }));
  scene.proven = { ...scene.truth, proven: { latest: 4n, pending: 6n, block: 0n } };
  expect(await allocated(scene.allocation(signing(b)))).toEqual(accepted(given('6')));
});

test('a nonce that the vault knows is not given again, and a transaction without a nonce is ignored', async () => {
  const scene = new Scene();
  scene.held = [
    { transactionId: a, nonce: '0' },
    { transactionId: b, nonce: null },
  ];
  expect(await allocated(scene.allocation(signing(b)))).toEqual(accepted(given('1')));
});

test('a refused request names the transaction whose pending release blocks it', async () => {
  const scene = new Scene();
  scene.book = { ...bookOf(a), leaving: new Set([a]) };
  expect(await allocated(scene.allocation(signing(b)))).toEqual(refused({ kind: 'behind', waitsFor: a }));
});

test('the blocker of a transaction is recorded, and so is its removal', async () => {
  const scene = new Scene();
  scene.book = bookOf(a, b);
  scene.held = [{ transactionId: a, nonce: null }];
  await recordBlocker(scene.allocation(waiting));
  scene.truth = { latest: 1n, pending: 2n };
  await recordBlocker(scene.allocation(waiting));
  expect(scene.recorded).toEqual([
    { type: 'waitForNonce', blocker: { transactionId: a } },
    { type: 'waitForNonce', blocker: null },
  ]);
  expect(scene.book.owned.size).toBe(2);
});

test('the lowest unused nonce is named and given even below the floor if proven counts contradict the floor', async () => {
  const scene = new Scene();
  scene.book = { ...NO_ALLOCATIONS, owned: new Map([[b, 5n]]), floor: 5n };
  scene.held = [{ transactionId: b, nonce: '5' }];
  scene.truth = { latest: 3n, pending: 3n };
  await recordBlocker(scene.allocation(waiting));
  scene.proven = { ...scene.truth, proven: { latest: null, pending: null, block: 0n } };
  await recordBlocker(scene.allocation(waiting));
  expect(scene.book.floor).toBe(5n);
  scene.proven = { ...scene.truth, proven: { latest: 3n, pending: 3n, block: 0n } };
  await recordBlocker(scene.allocation(waiting));
  expect(scene.recorded).toEqual([
    { type: 'waitForNonce', blocker: null },
    { type: 'waitForNonce', blocker: { transactionId: null } },
  ]);
  expect(await allocated(scene.allocation(signing(a)))).toEqual(accepted(given('3')));
});

test('a nonce whose owner the vault does not know is released and given to the next transaction', async () => {
  const scene = new Scene();
  scene.book = bookOf('gone', b);
  scene.held = [{ transactionId: b, nonce: '1' }];
  await recordBlocker(scene.allocation(waiting));
  expect(scene.recorded).toEqual([{ type: 'waitForNonce', blocker: { transactionId: null } }]);
  expect(await allocated(scene.allocation(signing(a)))).toEqual(accepted(given('0')));
});
