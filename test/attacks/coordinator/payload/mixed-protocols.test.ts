/**
 * Attack: the coordinator names different protocols to two co-signers, so that each bans the other
 *   one for wrong messages.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 21
 * Defence: every opening message is signed with the digest of the protocol, and a co-signer refuses
 *   a protocol that it does not support.
 */
import { SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { relay } from '#jobs/signing/relay.ts';
import { thresholdSign } from '../../../cosigner/threshold-sign.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { approvedTransfer, newKey, present, startCosigners } from '../../../cosigner/cosigners.ts';
import type { Release } from '../../../cosigner/session/session-scene.ts';
import { SessionCosigner } from '../../../cosigner/session/session-scene.ts';

const [NEW, OLD] = ['bb'.repeat(32), 'aa'.repeat(32)] as const;
/** A co-signer release whose hashed constant depends on the protocol of the session. */
const BOTH: Release = { protocols: [NEW, OLD], constantOf: (protocol) => protocol };

/** Returns co-signers to which the coordinator names other protocols than the relay does. */
function naming(cosigners: readonly SessionCosigner[], protocolOf: (index: number) => string) {
  return cosigners.map((cosigner) => ({
    index: cosigner.index,
    call: (path: string, body: unknown) => {
      const named = path.endsWith('/open') ? { ...(body as object), protocol: protocolOf(cosigner.index) } : body;
      return cosigner.call(path, named);
    },
  }));
}

const run = (cosigners: Parameters<typeof relay>[0]['cosigners']) =>
  relay({ cosigners, path: () => 'key/test', request: () => ({}) }, [NEW, OLD]);

test('two co-signers that support both protocols run no session under two, and neither is banned', async () => {
  const cosigners = await SessionCosigner.two(BOTH, BOTH);
  for (const [first, second] of [
    [NEW, OLD],
    [OLD, NEW],
  ] as const) {
    const outcome = await run(naming(cosigners, (index) => (index === 1 ? first : second)));
    expect(outcome.ok ? '' : outcome.refusal.code).toBe('envelope-refused');
  }
  expect(cosigners.map(({ bans }) => bans)).toEqual([[], []]);
  expect((await run(cosigners)).ok).toBe(true);
});

test('two co-signers that hash different constants under one protocol name ban each other (the harm of the attack)', async () => {
  const changed: Release = { protocols: [NEW], constantOf: () => 'changed without a name of its own' };
  const cosigners = await SessionCosigner.two({ ...BOTH, protocols: [NEW] }, changed);
  const outcome = await run(cosigners);
  expect(outcome.ok ? '' : outcome.refusal.code).toBe('aborted');
  expect(cosigners.map(({ bans }) => bans)).toEqual([['test/constant'], ['test/constant']]);
});

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());

test('a co-signer refuses a protocol that it does not support by name, and continues to sign with the others', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners.watch(({ cosigner, path, body }) => {
    if (cosigner === 2 && path.endsWith('/open')) Object.assign(body as object, { protocol: OLD });
  });
  const outcome = await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }));
  expect(outcome.ok ? '' : outcome.reason).toBe(`node 2 protocol-mismatch (${SUPPORTED_PROTOCOLS.join(' ')})`);
  cosigners.watch(() => {});
  for (const cosigner of cosigners.all) {
    const states = await cosigner.call('pairs/status', {});
    const peers = Object.values(states.ok ? (states.value as Record<string, { banned: boolean }>) : {});
    expect(peers.map(({ banned }) => banned)).toEqual([false, false]);
  }
  expect((await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }))).ok).toBe(true);
  expect((await thresholdSign([present(cosigners.all[2]), ...cosigners.some(2)], approvedTransfer({ key }))).ok).toBe(
    true,
  );
  vi.restoreAllMocks();
});
