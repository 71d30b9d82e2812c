import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault.ts';
import { thresholdSign } from '#jobs/signing/threshold-sign.ts';
import type { Nodes } from '../cosigners.ts';
import { approvedTransfer, newKey, startNodes } from '../cosigners.ts';

/** The machine of a node burns down. */

let nodes: Nodes;
let key: VaultKey;

beforeAll(async () => {
  nodes = await startNodes();
  key = await newKey(nodes.all);
}, 60_000);
afterAll(() => nodes.stop());

test('the two others sign on; the new machine has no share of old keys, and one of every new key', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await nodes.replace(2);
  expect(await thresholdSign(nodes.all, approvedTransfer({ key }))).toMatchObject({ ok: true });
  expect(await thresholdSign(nodes.some(1, 2), approvedTransfer({ key }))).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/unknown-key|not-paired|peer-banned/) as string,
  });
  // The pairs are made anew with it, and every two nodes prove that they can sign: that is part of the making.
  const next = await newKey(nodes.all);
  for (const pair of [
    [1, 2],
    [2, 3],
    [1, 3],
  ]) {
    expect(await thresholdSign(nodes.some(...pair), approvedTransfer({ key: next }))).toMatchObject({ ok: true });
  }
  // And what the two others had made with each other is as good as before.
  expect(await thresholdSign(nodes.some(1, 3), approvedTransfer({ key }))).toMatchObject({ ok: true });
  vi.restoreAllMocks();
}, 120_000);
