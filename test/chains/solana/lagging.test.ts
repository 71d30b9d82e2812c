import { expect, test } from 'vitest';
import type { Rule } from '../false-node.ts';
import { clientAt, stranger } from './cast.ts';
import { startLyingNode } from './lying-node.ts';

/** Covers RPC nodes that lag behind another one. */

const { node, liar, lying, about } = await startLyingNode();

/** Returns a stranger's payment, and the block that includes it. */
async function landed() {
  const { hash } = node.chain.airdrop(stranger(), 1_000_000_000n);
  const seen = await clientAt(node.url).activity(hash, null);
  if (!seen.ok || seen.value === null || seen.value.block === null) throw new Error('it is there');
  return { hash, block: seen.value.block };
}

test('an RPC node that lags behind does not make a payment count as gone', async () => {
  const { hash, block } = await landed();
  const none = { result: { context: { slot: 1 }, value: [null] } };
  about('getSignatureStatuses', none);
  expect((await lying().activity(hash, block)).ok).toBe(false);
  expect(await lying().activity(hash, null)).toEqual({ ok: true, value: null });
  expect(await lying().activity(hash, { ...block, hash: 'another' })).toEqual({ ok: true, value: null });
  // An RPC node reports an error for a slot that was skipped permanently. A slot that it does not
  // have yet may be the missing block.
  for (const [code, words] of [
    [-32007, 'missing due to ledger jump to recent snapshot'],
    [-32009, 'missing in long-term storage'],
  ] as const) {
    const skipped: Rule = { error: { code, message: `Slot ${block.number} was skipped, or ${words}` } };
    const unseen = new Map<string, Rule>([
      ['getSignatureStatuses', none],
      ['getBlock', skipped],
    ]);
    liar.follow((method) => unseen.get(method) ?? 'forward');
    expect(await lying().activity(hash, block)).toEqual({ ok: true, value: null });
  }
  const later = (slots: bigint) => ({ ...block, number: (BigInt(block.number) + slots).toString() });
  expect(await lying().activity(hash, later(1_000n))).toMatchObject({ ok: false });
  // No RPC node lags this far behind, so the recorded block cannot exist.
  expect(await lying().activity(hash, later(1_000_000n))).toEqual({ ok: true, value: null });
});

test('an RPC node that lacks the votes for a recorded inclusion does not undo the inclusion', async () => {
  const { hash, block } = await landed();
  const value = [{ slot: 5, confirmations: 0, err: null, confirmationStatus: 'processed' }];
  about('getSignatureStatuses', { result: { context: { slot: 5 }, value } });
  expect(await lying().activity(hash, block)).toMatchObject({ ok: false });
});
