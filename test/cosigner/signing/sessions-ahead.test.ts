import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { refused } from '#domain/result.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { openSessionsAhead, thresholdSign } from '#jobs/signing/threshold-sign.ts';
import { approvedTransfer, newKey } from '../cosigners.ts';
import { cosignersInMemory } from '../cosigners-in-memory.ts';
import { policy } from '../../domain/cast.ts';
import { sourceOf } from '../policy-source.ts';

/** Tests signatures whose sessions the co-signers opened before the bytes were known. */

const cosigners = cosignersInMemory();
let key: VaultKey;
const paths: string[] = [];

beforeAll(async () => {
  key = await newKey(cosigners.all);
});
beforeEach(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners.watch(() => {});
  // An isolate remembers unreachable co-signers until they sign, also those of another file.
  for (const pair of [cosigners.some(1, 2), cosigners.some(1, 3)]) {
    expect((await thresholdSign(pair, { ...approvedTransfer({ key }), policies })).ok).toBe(true);
  }
  paths.length = 0;
  cosigners.watch(({ cosigner, path }) => void paths.push(`${cosigner} ${path.split('/').at(-1)}`));
});
afterEach(() => vi.restoreAllMocks());

const policies = sourceOf({ policy, mandate: null });
const openAhead = (of = key) => openSessionsAhead(cosigners.all, { key: of, policies });

async function sign(ahead: Awaited<ReturnType<typeof openAhead>>) {
  const request = { ...approvedTransfer({ key }), policies, ahead };
  const outcome = await thresholdSign(cosigners.all, request);
  return outcome.ok ? 'signed' : outcome.reason;
}

const each = (...actions: readonly string[]) => actions.flatMap((action) => [`1 ${action}`, `2 ${action}`]);

test('an unreachable co-signer opens nothing ahead, and is tried last from then on', async () => {
  const { all } = cosigners;
  const call = async () => refused({ cosigner: all[1].index, code: 'unreachable', detail: null, culprit: null });
  const without = [all[0], { index: all[1].index, call }, all[2]];
  expect(await openSessionsAhead(without, { key, policies })).toBeNull();
  paths.length = 0;
  expect(await openSessionsAhead(without, { key, policies })).not.toBeNull();
  expect(paths).toEqual(['1 open', '3 open']);
});

test('three round trips make a signature once its bytes are known', async () => {
  const ahead = await openAhead();
  expect(paths.splice(0)).toEqual(each('open'));
  expect(await sign(ahead)).toBe('signed');
  expect(paths).toEqual(each('start', 'round', 'round'));
});

test('sessions that were lost in between are opened again, with their request', async () => {
  const ahead = await openAhead();
  await cosigners.restart();
  paths.length = 0;
  expect(await sign(ahead)).toBe('signed');
  expect(paths).toEqual(each('start', 'open', 'start', 'round', 'round'));
});

test('sessions serve one signature', async () => {
  const ahead = await openAhead();
  expect([await sign(ahead), await sign(ahead)]).toEqual(['signed', 'signed']);
});

test('a group with another co-signer opens its own sessions', async () => {
  const ahead = await openAhead();
  paths.length = 0;
  const request = { ...approvedTransfer({ key }), policies, ahead };
  expect((await thresholdSign(cosigners.some(1, 3), request)).ok).toBe(true);
  expect(paths.slice(0, 4)).toEqual(['1 open', '3 open', '1 start', '3 start']);
});

test('a scheme whose opening has signing nonces opens nothing ahead', async () => {
  expect(await openAhead({ ...key, scheme: 'frost-ed25519' })).toBeNull();
  expect(paths).toEqual([]);
});
