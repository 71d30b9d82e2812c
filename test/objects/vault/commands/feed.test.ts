import { scheduler } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import type { ChainTransaction } from '#domain/activity/activity.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { recordActivity } from '#objects/vault/commands/activity.ts';
import { FEED_SIGNAL, nextChanges } from '#objects/vault/commands/feed.ts';
import { alice, UNPRICED } from '../../../domain/cast.ts';
import { BOB, newVaultScene, WALLET } from '../vault-scene.ts';

/** Covers the feed of a vault with many open dashboards. */

// Workers have this timer as a global.
vi.stubGlobal('scheduler', scheduler);
afterAll(() => void vi.unstubAllGlobals());

const HASHES = ['0xa', '0xb'] as const;

function paid(hash: string): ChainTransaction {
  const movement = { uid: 'top', from: BOB, to: WALLET, amount: amountOf(5n) };
  const block = { number: '7', hash: '0xb7', confirmations: 1, isFinal: false };
  return { hash, signer: BOB, fee: amountOf(1n), block, movements: [{ ...NATIVE, ...movement, kind: 'native' }] };
}

test('a commit is read once for all waiting readers, and again after the next commit', async () => {
  const { storage, host } = newVaultScene();
  const reads = vi.spyOn(storage, 'transactionsInFlight');
  let after = storage.history.length();
  for (const hash of HASHES) {
    const waiting = Array.from({ length: 20 }, () => nextChanges(host, alice, { after, waitMs: 60_000 }));
    reads.mockClear();
    await recordActivity(host, { chain: 'anvil', hash, seen: paid(hash), valuation: UNPRICED });
    host.changes.wake(FEED_SIGNAL);
    const changes = await Promise.all(waiting);
    expect(reads).toHaveBeenCalledTimes(1);
    for (const change of changes)
      expect(change).toMatchObject({ ok: true, value: { transactions: [{ activity: { hash } }] } });
    after = storage.history.length();
  }
});
