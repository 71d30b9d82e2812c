/**
 * Attack: names different protocols to two co-signers, so that each bans the other one for wrong messages.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 21
 * Defence: the digest of the protocol is signed in every opening, and one that a co-signer does not support is refused.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault.ts';
import { relay } from '#jobs/signing/relay.ts';
import { thresholdSign } from '#jobs/signing/threshold-sign.ts';
import type { Nodes } from '../../../cosigner/cosigners.ts';
import { approvedTransfer, newKey, present, startNodes } from '../../../cosigner/cosigners.ts';
import type { Release } from '../../../cosigner/session/session-scene.ts';
import { SessionNode } from '../../../cosigner/session/session-scene.ts';

const [NEW, OLD] = ['bb'.repeat(32), 'aa'.repeat(32)] as const;
/**
 * An upgraded co-signer: what it hashes depends on the protocol that the session was opened under.
 */
const BOTH: Release = { protocols: [NEW, OLD], constantOf: (protocol) => protocol };

/** Names a protocol to each co-signer, whatever the relay says. */
function naming(nodes: readonly SessionNode[], protocolOf: (index: number) => string) {
  return nodes.map((node) => ({
    index: node.index,
    call: (path: string, body: unknown) => {
      const named = path.endsWith('/open') ? { ...(body as object), protocol: protocolOf(node.index) } : body;
      return node.call(path, named);
    },
  }));
}

const run = (nodes: Parameters<typeof relay>[0]['nodes']) =>
  relay({ nodes, path: () => 'key/test', request: () => ({}) }, [NEW, OLD]);

test('two co-signers that support both run no session under two, and nobody is banned', async () => {
  const nodes = await SessionNode.two(BOTH, BOTH);
  for (const [first, second] of [
    [NEW, OLD],
    [OLD, NEW],
  ] as const) {
    const outcome = await run(naming(nodes, (index) => (index === 1 ? first : second)));
    expect(outcome.ok ? '' : outcome.refusal.code).toBe('envelope-refused');
  }
  expect(nodes.map(({ bans }) => bans)).toEqual([[], []]);
  expect((await run(nodes)).ok).toBe(true);
});

test('two co-signers that hash different constants under one name do ban each other: that is what is at stake', async () => {
  const changed: Release = { protocols: [NEW], constantOf: () => 'changed without a name of its own' };
  const nodes = await SessionNode.two({ ...BOTH, protocols: [NEW] }, changed);
  const outcome = await run(nodes);
  expect(outcome.ok ? '' : outcome.refusal.code).toBe('aborted');
  expect(nodes.map(({ bans }) => bans)).toEqual([['test/constant'], ['test/constant']]);
});

let nodes: Nodes;
let key: VaultKey;

beforeAll(async () => {
  nodes = await startNodes();
  key = await newKey(nodes.all);
}, 120_000);
afterAll(() => nodes.stop());

test('a co-signer refuses a protocol that it does not support by name, and signs on with the others', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  nodes.watch(({ node, path, body }) => {
    if (node === 2 && path.endsWith('/open')) Object.assign(body as object, { protocol: OLD });
  });
  const outcome = await thresholdSign(nodes.some(1, 2), approvedTransfer({ key }));
  expect(outcome.ok ? '' : outcome.reason).toMatch(/^node 2 protocol-mismatch \([0-9a-f]{64}\)$/u);
  nodes.watch(() => {});
  for (const node of nodes.all) {
    const states = await node.call('pairs/status', {});
    const peers = Object.values(states.ok ? (states.value as Record<string, { banned: boolean }>) : {});
    expect(peers.map(({ banned }) => banned)).toEqual([false, false]);
  }
  expect((await thresholdSign(nodes.some(1, 2), approvedTransfer({ key }))).ok).toBe(true);
  expect((await thresholdSign([present(nodes.all[2]), ...nodes.some(2)], approvedTransfer({ key }))).ok).toBe(true);
  vi.restoreAllMocks();
});
