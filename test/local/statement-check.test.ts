import { createServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addressOn } from '#chains/address-on.ts';
import type { PolicyLinkBytes } from '#devices/policy-chain.ts';
import type { Policy } from '#domain/policy.ts';
import type { SignedStatement } from '#domain/statement.ts';
import { Client } from '#local/client.ts';
import type { PinnedVault } from '#local/pin-file.ts';
import { newNonce, provePolicies } from '#local/statement-check.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { byDevice } from '../cosigner/device-scene.ts';
import { vaultId } from '../domain/cast.ts';
import { byLaptop, changed, founding, hashOf, successor } from '../devices/policy-chain-scene.ts';
import type { PaperCosigner } from '../devices/statement-scene.ts';
import { paperCosigner } from '../devices/statement-scene.ts';

/** A device, and a service in an attacker's hands that delivers statements and policies as the story wants. */

const CHAIN = 'eip155:31337';
const cosigners = [1, 2, 3].map(paperCosigner);
const others = [1, 2, 3].map(paperCosigner);
const pinsOf = (of: readonly PaperCosigner[]) => of.map(({ pin }) => pin);

const first: Policy = { ...byDevice, cosigners: pinsOf(cosigners) };
const second = successor(first, { threshold: 3 });
const chain = [founding(first), changed(second)];

function newKey() {
  const publicKey = secp256k1.keygen().publicKey;
  const scheme = 'ecdsa-secp256k1' as const;
  const address = addressOn(CHAIN, scheme, publicKey);
  if (address === null) throw new Error('the key has an address');
  return {
    keyId: keyIdOf(scheme, publicKey),
    scheme,
    publicKey: bytesToHex(publicKey),
    wallet: { chain: CHAIN, address },
  };
}

const key = newKey();
const pinned: PinnedVault = {
  cosigners: pinsOf(cosigners),
  threshold: 2,
  policy: { version: 1, hash: hashOf(first) },
  keyIds: [key.keyId],
};

let server: Server;
let client: Client;
let served: readonly PolicyLinkBytes[] = chain;

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const http = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: served.map(adopted).toReversed(), nextCursor: null }));
  });
  server = http;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'token');
});
afterAll(() => {
  vi.restoreAllMocks();
  server.close();
});

/** As the interface has it. */
function adopted({ policy, mandate }: PolicyLinkBytes, i: number) {
  const approvals = (mandate?.approvals ?? []).map(({ actor, digest, device }) => ({
    userId: actor.userId,
    digest,
    device: device && {
      keyId: device.keyId,
      signature: device.signature,
      authenticatorData: device.assertion?.authenticatorData ?? null,
      clientDataJSON: device.assertion?.clientDataJson ?? null,
    },
  }));
  return {
    policy: { version: i + 1, canonical: bytesToHex(policy) },
    mandate: mandate === null ? null : { canonical: bytesToHex(mandate.bytes), approvals },
  };
}

interface Story {
  readonly by?: readonly PaperCosigner[];
  readonly states?: Policy;
  readonly keys?: readonly ReturnType<typeof newKey>[];
  readonly policies?: readonly PolicyLinkBytes[];
  readonly device?: PinnedVault;
  readonly policyVersion?: number;
  /** Of the intent; null where the question is about the whole vault. */
  readonly wallet?: { readonly chain: string; readonly address: string } | null;
}

/** The pins after it, or why nothing is signed. */
async function prove(story: Story = {}): Promise<PinnedVault | string> {
  const { by = cosigners, states = second, keys = [key], policies = chain, device = pinned } = story;
  const { policyVersion = 2, wallet = key.wallet } = story;
  served = policies;
  const nonce = newNonce();
  const statements = keys.flatMap(({ keyId }) =>
    by.map(({ pin, sign }) => {
      const policy = { policyVersion: states.version, policyHash: hashOf(states) };
      const statement: SignedStatement = sign({
        cosigner: pin.index,
        vaultId,
        keyId,
        ...policy,
        epoch: 1,
        issuedAtMs: Date.now(),
        nonce,
      });
      return { cosigner: pin.index, keyId, statement };
    }),
  );
  const question = { vaultId, nonce, delivered: { keys, statements }, policyVersion };
  try {
    const proven = await provePolicies(client, device, wallet === null ? question : { ...question, wallet });
    return proven.pinned;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test('what t co-signers have in force is proven, and remembered from then on', async () => {
  const now = { ...pinned, policy: { version: 2, hash: hashOf(second) } };
  expect(await prove()).toEqual(now);
  expect(await prove({ by: cosigners.slice(0, 2) })).toEqual(now);
  // An intent that names the policy before is still one of this vault's.
  expect(await prove({ device: now, policyVersion: 1 })).toEqual(now);
});

test('one agreement too few, or one disagreement, proves nothing', async () => {
  expect(await prove({ by: cosigners.slice(0, 1) })).toContain('fewer than 2 co-signers state');
  expect(await prove({ by: [] })).toContain('fewer than 2 co-signers state');
  expect(await prove({ by: others })).toContain('fewer than 2 co-signers state');
  expect(await prove({ states: first })).toContain('another policy in force');
  expect(await prove({ by: cosigners.slice(0, 2), device: { ...pinned, threshold: 3 } })).toContain('fewer than 3');
});

test('an older chain than the device has verified, or another one, proves nothing', async () => {
  const now = { ...pinned, policy: { version: 2, hash: hashOf(second) } };
  const older = { policies: chain.slice(0, 1), states: first, device: now, policyVersion: 1 };
  expect(await prove(older)).toContain('an older policy than this device has verified');
  const forked = successor(first, { threshold: 1 });
  const other = { policies: [founding(first), changed(forked)], states: forked, device: now };
  expect(await prove(other)).toContain('other policies than this device has verified');
  expect(await prove({ policies: [] })).toContain('an older policy');
});

test('statements about another key than the wallet’s prove nothing', async () => {
  const mallorys = newKey();
  expect(await prove({ keys: [mallorys] })).toContain('not the key of the wallet');
  expect(await prove({ keys: [{ ...mallorys, publicKey: key.publicKey }] })).toContain('the name of another one');
  expect(await prove({ keys: [] })).toContain('no key yet');
});

test('a key that the service leaves out is asked for where the whole vault is meant', async () => {
  const both = [key, newKey()];
  const known = await prove({ keys: both, wallet: null });
  if (typeof known === 'string') throw new Error(known);
  expect(known.keyIds).toEqual(both.map(({ keyId }) => keyId));
  expect(await prove({ device: known, wallet: null })).toContain('fewer than 2 co-signers state');
  expect(await prove({ device: known })).toEqual({ ...known });
});

test('other co-signers are believed when the quorum before them has signed them, and not otherwise', async () => {
  const moved = successor(first, { cosigners: pinsOf(others) });
  const story = { by: others, states: moved };
  const signed = await prove({ ...story, policies: [founding(first), changed(moved)] });
  expect(signed).toMatchObject({ cosigners: pinsOf(others), policy: { version: 2, hash: hashOf(moved) } });
  const alone = { ...story, policies: [founding(first), changed(moved, [byLaptop])] };
  expect(await prove(alone)).toContain('pin them again with their fingerprint');
});
