import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import type { NodeIdentity, PeerIdentity } from '#mpc/envelope.ts';
import { importIdentity, importPeer, openEnvelope, sealEnvelope } from '#mpc/envelope.ts';
import { party } from './dealt-key.ts';

interface Node {
  readonly own: NodeIdentity;
  readonly asPeer: PeerIdentity;
}

async function node(index: number): Promise<Node> {
  const secrets = { signing: randomBytes(32), exchange: randomBytes(32) };
  const keys = { signing: ed25519.getPublicKey(secrets.signing), exchange: x25519.getPublicKey(secrets.exchange) };
  return { own: await importIdentity(party(index), secrets), asPeer: await importPeer(party(index), keys) };
}

const [alice, bob, mallory] = [await node(1), await node(2), await node(3)];
const sid = randomBytes(32);
const body = new TextEncoder().encode('a share that nobody else may read');
const sealed = () => sealEnvelope(alice.own, bob.asPeer, { sid, round: 2, body });
const opened = (bytes: Uint8Array, differences: Partial<{ sid: Uint8Array; round: number }> = {}) =>
  openEnvelope(bob.own, alice.asPeer, { sid, round: 2, bytes, ...differences });

test('the receiver reads what the sender wrote', async () => {
  expect(await opened(await sealed())).toEqual(body);
});

test('an empty body and a large one come through', async () => {
  for (const size of [0, 1, 100_000]) {
    const bytes = await sealEnvelope(alice.own, bob.asPeer, { sid, round: 2, body: new Uint8Array(size) });
    expect((await opened(bytes))?.length).toBe(size);
  }
});

test('who carries it sees neither body nor the same bytes twice', async () => {
  const [first, second] = [await sealed(), await sealed()];
  const text = Buffer.from(body).toString('hex');
  expect(Buffer.from(first).toString('hex')).not.toContain(text);
  expect(first).not.toEqual(second);
});

test('not one bit of it can be changed, nor one byte cut off or added', async () => {
  const bytes = await sealed();
  for (let place = 0; place < bytes.length; place++) {
    const changed = Uint8Array.from(bytes);
    changed[place] = (changed[place] ?? 0) ^ 0x80;
    expect([place, await opened(changed)]).toEqual([place, null]);
  }
  expect(await opened(bytes.slice(0, -1))).toBeNull();
  expect(await opened(Uint8Array.of(...bytes, 0))).toBeNull();
  for (const size of [0, 1, 64, 127]) expect(await opened(new Uint8Array(size))).toBeNull();
});

test('it opens in its own session and round only', async () => {
  const bytes = await sealed();
  expect(await opened(bytes, { sid: randomBytes(32) })).toBeNull();
  for (const round of [0, 1, 3, 255]) expect(await opened(bytes, { round })).toBeNull();
});

test('nobody else can open it, and it cannot be sent back', async () => {
  const bytes = await sealed();
  expect(await openEnvelope(mallory.own, alice.asPeer, { sid, round: 2, bytes })).toBeNull();
  expect(await openEnvelope(alice.own, bob.asPeer, { sid, round: 2, bytes })).toBeNull();
});

test('nobody can seal in the name of another', async () => {
  const posing: NodeIdentity = { ...mallory.own, index: alice.own.index };
  const bytes = await sealEnvelope(posing, bob.asPeer, { sid, round: 2, body });
  expect(await opened(bytes)).toBeNull();
  // Not even with half of the victim's keys: encryption needs one, the signature the other.
  const half: NodeIdentity = { ...mallory.own, index: alice.own.index, exchange: alice.own.exchange };
  expect(await opened(await sealEnvelope(half, bob.asPeer, { sid, round: 2, body }))).toBeNull();
});

test('a peer is held against its pinned keys, not against what it says', async () => {
  const bytes = await sealed();
  expect(await openEnvelope(bob.own, { ...mallory.asPeer, index: party(1) }, { sid, round: 2, bytes })).toBeNull();
});
