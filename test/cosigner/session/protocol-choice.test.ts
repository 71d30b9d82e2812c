import { expect, test } from 'vitest';
import { relay } from '#jobs/signing/relay.ts';
import type { Release } from './session-scene.ts';
import { SessionCosigner } from './session-scene.ts';

/**
 * Tests releases with two protocols: a release that changes the protocol also supports the old one,
 * because co-signers are upgraded one after the other.
 */

const [A, B, C] = ['aa'.repeat(32), 'bb'.repeat(32), 'cc'.repeat(32)] as const;
const speaking = (...protocols: readonly string[]): Release => ({ protocols, constantOf: (protocol) => protocol });

function runOf(cosigners: readonly SessionCosigner[], protocols: readonly string[]) {
  return relay({ cosigners, path: () => 'key/test', request: () => ({}) }, protocols);
}

async function ranUnder(cosigners: readonly SessionCosigner[], protocols: readonly string[]) {
  const outcome = await runOf(cosigners, protocols);
  if (!outcome.ok) throw new Error(outcome.refusal.code);
  expect(new Set([...outcome.value.values()].map(({ sid }) => sid)).size).toBe(1);
  expect(cosigners.map(({ bans }) => bans)).toEqual([[], []]);
  return cosigners.map(({ requests }) => requests);
}

test('co-signers of one release run the newest protocol, after one request', async () => {
  expect(await ranUnder(await SessionCosigner.two(speaking(B, A), speaking(B, A)), [B, A])).toEqual([[B], [B]]);
});

test('an upgraded co-signer and one of the older release run the older protocol', async () => {
  const request = [
    [B, A],
    [B, A],
  ];
  expect(await ranUnder(await SessionCosigner.two(speaking(B, A), speaking(A)), [B, A])).toEqual(request);
  expect(await ranUnder(await SessionCosigner.two(speaking(A), speaking(B, A)), [B, A])).toEqual(request);
});

test('a coordinator of the older release runs the older protocol with upgraded co-signers', async () => {
  expect(await ranUnder(await SessionCosigner.two(speaking(B, A), speaking(B, A)), [A])).toEqual([[A], [A]]);
});

test('a coordinator takes the newest protocol that all co-signers support, whichever of them refuses first', async () => {
  const request = [
    [C, A],
    [C, A],
  ];
  expect(await ranUnder(await SessionCosigner.two(speaking(B, A), speaking(A)), [C, B, A])).toEqual(request);
});

test('co-signers without a common protocol run no session, each names its protocols, and no co-signer is banned', async () => {
  const cosigners = await SessionCosigner.two(speaking(B), speaking(A));
  const refusal = { cosigner: 1, code: 'protocol-mismatch', detail: B, culprit: null };
  for (const protocols of [[B, A], [A], [C]]) expect(await runOf(cosigners, protocols)).toEqual({ ok: false, refusal });
  expect(await runOf(cosigners, [B])).toEqual({ ok: false, refusal: { ...refusal, cosigner: 2, detail: A } });
  expect(cosigners.map(({ bans }) => bans)).toEqual([[], []]);
  // Only the first coordinator supports both protocols, so only it makes a second attempt.
  expect(cosigners.map(({ requests }) => requests)).toEqual([
    [B, A, A, C, B],
    [B, A, A, C, B],
  ]);
});

test('a coordinator does not retry with a protocol that it does not support', async () => {
  const cosigners = await SessionCosigner.two(speaking(C), speaking(C, A));
  expect(await runOf(cosigners, [B, A])).toMatchObject({
    ok: false,
    refusal: { code: 'protocol-mismatch', detail: C },
  });
  expect(cosigners.map(({ requests }) => requests)).toEqual([[B], [B]]);
});
