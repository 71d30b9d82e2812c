import { afterEach, expect, test, vi } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { ChainClient } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { accepted, refused } from '#domain/result.ts';
import { isDecided, observeAndAct } from '#jobs/signing/confirm.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { anvilChain } from '../../chains/evm/local-chain.ts';
import { sentWith } from '../../domain/transaction/step.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { inclusion, NOON_MS, preparedAttempt, transactionIn } from '../../domain/cast.ts';
import { vaultStandIn } from '../../objects/vault/vault-stand-in.ts';

/** Covers the confirmation job for a payment whose bytes the network does not accept. */

const chain = anvilChain();

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/**
 * Runs the job for a payment with this state reason. `isAffordable` decides whether a quote
 * succeeds. Returns the calls that the job makes.
 */
async function confirmed(stateReason: string, seen: Partial<Observation>, terms: Terms = {}): Promise<string[]> {
  const { done, watch } = sceneOf(stateReason, seen, terms);
  await observeAndAct(watch);
  return done;
}

type Terms = Partial<Transaction> & {
  readonly isAffordable?: boolean;
  /** The reason of the record after the report; the same one when absent. */
  readonly reasonAfter?: string;
};

function sceneOf(stateReason: string, seen: Partial<Observation>, terms: Terms) {
  const { isAffordable = true, reasonAfter = stateReason, ...differences } = terms;
  const done: string[] = [];
  const record = { stateReason, updatedAtMs: Date.now(), attempts: [sentWith('refused')], ...differences };
  const transaction = transactionIn(differences.state ?? 'BROADCAST', record);
  const observed = { type: 'absent', inMempool: false, nonceTaken: false, ...seen } as Observation;
  const client: ChainClient = {
    ...clientFor(chain, []),
    observe: async () => accepted(observed),
    broadcast: async () => {
      done.push('broadcast');
      return { outcome: 'underpriced', answer: 'too cheap' };
    },
    quote: async () => {
      done.push('quote');
      const fault = { kind: 'permanent', reason: 'FEE_CAP_EXCEEDED', detail: null } as const;
      return isAffordable ? accepted({ maxFee: transaction.attempts[0]?.maxFee ?? ('0' as never) }) : refused(fault);
    },
    accountNonce: async () => refused({ detail: 'no node' }),
  };
  const vault = vaultStandIn({
    recordEvent: ({ event }: { readonly event: TransactionEvent }) => {
      done.push('obstacle' in event ? `reprice ${event.obstacle}` : event.type);
      return { ...transaction, stateReason: reasonAfter };
    },
  });
  const env = { WALLET_NONCE: { getByName: () => ({}) } } as unknown as CoordinatorEnv;
  return { done, watch: { env, vault, client, work: { transaction, chain } as never } };
}

test('the bytes are sent again while RPC nodes disagree about the use of the nonce', async () => {
  expect(await confirmed('NODES_DISAGREE', { isUseDisputed: true })).toContain('broadcast');
  expect(await confirmed('NONCE_USED_UNEXPLAINED', { isUnexplained: true })).not.toContain('broadcast');
});

test('resting bytes are broadcast again, and quoted first if a lower price can help', async () => {
  expect(await confirmed('REJECTED_BY_NODE', {})).toEqual(['miss', 'broadcast']);
  expect(await confirmed('SPEED_UP_NEEDED', {})).toEqual(['miss', 'broadcast']);
  for (const reason of ['FEE_CAP_EXCEEDED', 'INSUFFICIENT_FUNDS']) {
    expect(await confirmed(reason, {}, { isAffordable: false })).toEqual(['miss', 'quote', 'broadcast']);
    expect(await confirmed(reason, {})).toEqual(['miss', 'quote', 'reprice null', 'broadcast']);
  }
});

test('an inclusion that is gone when its attempts have lapsed is removed first, and then they are signed again', async () => {
  const lapsed = { type: 'lapsed' } as const;
  expect(await confirmed('', lapsed, { state: 'CONFIRMING', inclusion: inclusion() })).toEqual(['miss']);
  expect(await confirmed('REORGED', lapsed, { inclusion: null })).toEqual(['lapse']);
});

test('a payment that no RPC node explains for an hour is named, and its bytes are sent again without a record', async () => {
  const old = { attempts: [sentWith('accepted')], updatedAtMs: 0 };
  expect(await confirmed('REBROADCASTING', {}, old)).toEqual(['miss', 'unshown']);
  expect(await confirmed('REBROADCASTING', {}, { ...old, updatedAtMs: Date.now() })).toEqual(['miss']);
  expect(await confirmed('REBROADCASTING', { inMempool: true }, old)).toEqual(['miss']);
  expect(await confirmed('NOT_SHOWN', {}, old)).toEqual(['miss', 'broadcast']);
});

test('bytes that a mempool has, or that are not at rest, are not broadcast again', async () => {
  expect(await confirmed('FEE_CAP_EXCEEDED', { inMempool: true })).toEqual(['miss']);
  expect(await confirmed('REFUSED_BY_NODE', {})).toEqual(['miss']);
});

test('a contradicted inclusion does not prevent a broadcast, and a failed payment is never broadcast', async () => {
  // The valuation of the inclusion is disabled.
  vi.stubGlobal('scheduler', { wait: async () => {} });
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const claim = inclusion({ secondNode: 'disagrees' });
  expect(await confirmed('NODES_DISAGREE', { type: 'included', inclusion: claim })).toEqual(['include', 'broadcast']);
  const failed = { state: 'FAILED', inclusion: null, watchedSinceMs: NOON_MS } as const;
  expect(await confirmed('COIN_UNKNOWN', { inMempool: true, isWithheld: true }, failed)).toEqual(['miss']);
  expect(await confirmed('COIN_UNKNOWN', { type: 'included', inclusion: claim }, failed)).toEqual(['include']);
});

test('an unknown UTXO is recorded before a further attempt is signed, although it decides nothing', async () => {
  const before = async (stateReason: string, seen: Partial<Observation>) => {
    const { done, watch } = sceneOf(stateReason, seen, { attempts: [sentWith('refused'), preparedAttempt()] });
    return [await isDecided(watch), ...done];
  };
  expect(await before('CANCELLING', {})).toEqual([false]);
  expect(await before('CANCELLING', { isCoinUnknown: true })).toEqual([false, 'miss']);
  // The UTXO is known again.
  expect(await before('COIN_UNKNOWN', {})).toEqual([false, 'miss']);
  expect(await before('CANCELLING', { nonceTaken: true })).toEqual([true, 'miss']);
  expect(await before('CANCELLING', { isUnexplained: true })).toEqual([true, 'miss']);
});

test('a new doubt about a payment is logged once, with what each RPC node states', async () => {
  vi.stubGlobal('scheduler', { wait: async () => {} });
  const statements = [
    { host: 'one.test', states: 'included' },
    { host: 'two.test', states: 'included-elsewhere' },
  ] as const;
  const seen = { type: 'included', inclusion: inclusion({ secondNode: 'disagrees' }), statements } as const;
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const lines = () => logged.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('in-doubt'));
  await confirmed('CANCELLING', seen, { reasonAfter: 'CANCELLING' });
  await confirmed('NODES_DISAGREE', seen);
  expect(lines()).toEqual([]);
  await confirmed('CANCELLING', seen, { reasonAfter: 'NODES_DISAGREE' });
  await confirmed('', { isUseDisputed: true, statements }, { reasonAfter: 'NODES_DISAGREE' });
  expect(lines().map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: 'payment-in-doubt', chain: 'anvil', reason: 'NODES_DISAGREE', statements },
    { event: 'payment-in-doubt', chain: 'anvil', reason: 'NODES_DISAGREE', statements },
  ]);
});
