import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import type { CosignerIdentity, PeerIdentity } from '#mpc/envelope.ts';
import type { Channel, EphemeralKey } from '#mpc/channel.ts';
import { newEphemeralKey, openChannel } from '#mpc/channel.ts';
import { importIdentity, importPeer, openEnvelope, sealEnvelope } from '#mpc/envelope.ts';
import { party } from './dealt-key.ts';

interface Node {
  readonly own: CosignerIdentity;
  readonly asPeer: PeerIdentity;
  readonly ephemeral: EphemeralKey;
}

async function node(index: number): Promise<Node> {
  const secrets = { signing: randomBytes(32), exchange: randomBytes(32) };
  const keys = { signing: ed25519.getPublicKey(secrets.signing), exchange: x25519.getPublicKey(secrets.exchange) };
  const ephemeral = await newEphemeralKey();
  return { own: await importIdentity(party(index), secrets), asPeer: await importPeer(party(index), keys), ephemeral };
}

const [alice, bob, mallory] = [await node(1), await node(2), await node(3)];
const sid = randomBytes(32);
const body = new TextEncoder().encode('a share that only its receiver may read');

/** Returns the channel from one co-signer to another, as the first one holds it. */
async function channel(own: Node, peer: Node, differences: Partial<{ sid: Uint8Array }> = {}): Promise<Channel> {
  const session = { sid, ephemeral: own.ephemeral, peerKey: peer.ephemeral.publicKey, ...differences };
  const opened = await openChannel(own.own, peer.asPeer, session);
  if (opened === null) throw new Error('the keys are no small ones');
  return opened;
}

const [toBob, toAlice] = [await channel(alice, bob), await channel(bob, alice)];
const sealed = () => sealEnvelope(alice.own, toBob, { round: 2, body });
const opened = (bytes: Uint8Array, { round = 2, through = toAlice } = {}) =>
  openEnvelope(alice.asPeer, through, { round, bytes });

test('the receiver reads what the sender wrote', async () => {
  expect(await opened(await sealed())).toEqual(body);
});

test('an empty body and a large body are delivered', async () => {
  for (const size of [0, 1, 100_000]) {
    const bytes = await sealEnvelope(alice.own, toBob, { round: 2, body: new Uint8Array(size) });
    expect((await opened(bytes))?.length).toBe(size);
  }
});

test('the carrier of an envelope cannot see its body, and sees different bytes each time', async () => {
  const [first, second] = [await sealed(), await sealed()];
  const text = Buffer.from(body).toString('hex');
  expect(Buffer.from(first).toString('hex')).not.toContain(text);
  expect(first).not.toEqual(second);
});

test('an envelope with a changed bit, or with a byte removed or added, does not open', async () => {
  const bytes = await sealed();
  for (let position = 0; position < bytes.length; position++) {
    const changed = Uint8Array.from(bytes);
    changed[position] = (changed[position] ?? 0) ^ 0x80;
    expect([position, await opened(changed)]).toEqual([position, null]);
  }
  expect(await opened(bytes.slice(0, -1))).toBeNull();
  expect(await opened(Uint8Array.of(...bytes, 0))).toBeNull();
  for (const size of [0, 1, 64, 127]) expect(await opened(new Uint8Array(size))).toBeNull();
});

test('an envelope opens in its own session and round only', async () => {
  const bytes = await sealed();
  expect(await opened(bytes, { through: await channel(bob, alice, { sid: randomBytes(32) }) })).toBeNull();
  // An envelope does not open under the header of the other session either, because the channel key
  // is bound to the session.
  const other = await channel(bob, alice, { sid: randomBytes(32) });
  expect(await opened(bytes, { through: { ...other, sid } })).toBeNull();
  for (const round of [0, 1, 3, 255]) expect(await opened(bytes, { round })).toBeNull();
});

test('only the receiver opens an envelope, and an envelope cannot be sent back', async () => {
  const bytes = await sealed();
  expect(await openEnvelope(alice.asPeer, await channel(mallory, alice), { round: 2, bytes })).toBeNull();
  const posing = { ...(await channel(mallory, alice)), own: bob.own.index };
  expect(await openEnvelope(alice.asPeer, posing, { round: 2, bytes })).toBeNull();
  expect(await openEnvelope(bob.asPeer, toBob, { round: 2, bytes })).toBeNull();
});

test('a party cannot seal an envelope in the name of another party', async () => {
  const posing: Node = { ...mallory, own: { ...mallory.own, index: alice.own.index } };
  expect(await opened(await sealEnvelope(posing.own, await channel(posing, bob), { round: 2, body }))).toBeNull();
  // All keys of the channel do not suffice either, because the signature needs the signing key too.
  expect(await opened(await sealEnvelope(mallory.own, toBob, { round: 2, body }))).toBeNull();
  // The signing key alone does not suffice either.
  const half: Node = { ...posing, own: { ...posing.own, signing: alice.own.signing } };
  expect(await opened(await sealEnvelope(half.own, await channel(half, bob), { round: 2, body }))).toBeNull();
});

test('an envelope is verified with the pinned keys of the peer, whatever index it claims', async () => {
  const bytes = await sealed();
  expect(await openEnvelope({ ...mallory.asPeer, index: party(1) }, toAlice, { round: 2, bytes })).toBeNull();
});
