import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { PolicyLinkBytes } from '#devices/policy-links.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import { Client } from '#cli/api-client.ts';
import type { PinnedVault } from '#cli/device/pin-file.ts';
import type { ProvenPolicies } from '#cli/device/statement-check.ts';
import { newNonce, provePolicies } from '#cli/device/statement-check.ts';
import { byDevice } from '../../cosigner/policy/device-scene.ts';
import { vaultId } from '../../domain/cast.ts';
import { byLaptop, changed, creation, hashOf, successor } from '../../devices/policy-links-scene.ts';
import type { PaperCosigner } from '../../devices/statement-scene.ts';
import { paperCosigner } from '../../devices/statement-scene.ts';
import type { Service } from './service-scene.ts';
import { adopted, newKey, serve } from './service-scene.ts';

/**
 * Covers the device command against a hostile service, whose statements and policies the test sets.
 */

const cosigners = [1, 2, 3].map(paperCosigner);
const others = [1, 2, 3].map(paperCosigner);
const pinsOf = (of: readonly PaperCosigner[]) => of.map(({ pin }) => pin);

const first: Policy = { ...byDevice, cosigners: pinsOf(cosigners) };
const second = successor(first, { threshold: 3 });
const chain = [creation(first), changed(second)];

const key = newKey();
const pinned: PinnedVault = {
  cosigners: pinsOf(cosigners),
  threshold: 2,
  policy: { version: 1, hash: hashOf(first) },
  keyIds: [key.keyId],
};

let service: Service;
let client: Client;
let served: readonly PolicyLinkBytes[] = chain;

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  service = await serve(() => ({ data: served.map(adopted).toReversed(), nextCursor: null }));
  client = new Client(service.url, 'token');
});
afterAll(() => {
  vi.restoreAllMocks();
  service.stop();
});

const linkOf = (policy: Policy) => ({ version: policy.version, hash: hashOf(policy) });

interface Story {
  readonly by?: readonly PaperCosigner[];
  readonly states?: Policy;
  /** The replaced statements, by the number of the co-signer. */
  readonly except?: Readonly<Record<number, { readonly version: number; readonly hash: string }>>;
  readonly keys?: readonly ReturnType<typeof newKey>[];
  readonly policies?: readonly PolicyLinkBytes[];
  readonly device?: PinnedVault;
  readonly policyVersion?: number;
  /** The number in the statements. */
  readonly signingThreshold?: number;
  /** The challenge of the intent, or null if the request is about the whole vault. */
  readonly wallet?: { readonly chain: string; readonly address: string } | null;
  /** The challenge of a policy change. */
  readonly proposed?: Policy;
}

/** The pins after the check, or the reason of the refusal. */
async function prove(story: Story = {}): Promise<PinnedVault | string> {
  const proven = await outcome(story);
  return typeof proven === 'string' ? proven : proven.pinned;
}

/**
 * The co-signers that the user must accept as exceptions, each with its verdict; or the reason of
 * the refusal.
 */
async function toName(story: Story): Promise<readonly string[] | string> {
  const proven = await outcome(story);
  return typeof proven === 'string' ? proven : proven.exceptions.map((one) => `${one.cosigner}:${one.agreement}`);
}

/** Returns the proven statements, or the reason of the refusal. */
async function outcome(story: Story): Promise<ProvenPolicies | string> {
  const { by = cosigners, states = second, keys = [key], policies = chain, device = pinned } = story;
  const { policyVersion = 2, wallet = key.wallet, except = {}, proposed, signingThreshold = 2 } = story;
  served = policies;
  const nonce = newNonce();
  const statements = keys.flatMap(({ keyId }) =>
    by.map(({ pin, sign }) => {
      const { version, hash } = except[pin.index] ?? linkOf(states);
      const policy = { policyVersion: version, policyHash: hash };
      const statement: SignedStatement = sign({
        cosigner: pin.index,
        vaultId,
        keyId,
        ...policy,
        signingThreshold,
        epoch: 1,
        issuedAtMs: Date.now(),
        nonce,
      });
      return { cosigner: pin.index, keyId, statement };
    }),
  );
  const query = {
    vaultId,
    nonce,
    delivered: { keys, statements },
    policyVersion,
    ...(wallet === null ? {} : { wallet }),
    ...(proposed === undefined ? {} : { proposed: linkOf(proposed) }),
  };
  try {
    return await provePolicies(client, device, query);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

test('the policy that t co-signers have in force is proven, and is remembered', async () => {
  const now = { ...pinned, policy: { version: 2, hash: hashOf(second) } };
  expect(await prove()).toEqual(now);
  expect(await prove({ by: cosigners.slice(0, 2) })).toEqual(now);
  // An intent that names the previous policy is still accepted for this vault.
  expect(await prove({ device: now, policyVersion: 1 })).toEqual(now);
});

test('t - 1 agreements prove nothing', async () => {
  expect(await prove({ by: cosigners.slice(0, 1) })).toContain('Fewer than 2 co-signers state');
  expect(await prove({ by: [] })).toContain('Fewer than 2 co-signers state');
  expect(await prove({ by: others })).toContain('Fewer than 2 co-signers state');
  expect(await prove({ states: first })).toContain('Fewer than 2 co-signers state');
});

test('with t agreements, the user must accept each other co-signer as an exception, by its statement', async () => {
  const third = successor(second);
  const fork = successor(first, { threshold: 1 });
  expect(await toName({})).toEqual([]);
  expect(await toName({ by: cosigners.slice(0, 2) })).toEqual(['3:unknown']);
  expect(await toName({ except: { 3: linkOf(first) } })).toEqual(['3:behind']);
  expect(await toName({ except: { 1: linkOf(fork) } })).toEqual(['1:other-history']);
  expect(await toName({ except: { 2: linkOf(third) } })).toEqual(['2:later-version']);
  const two = { 2: linkOf(third), 3: linkOf(first) };
  expect(await toName({ except: two })).toContain('Ask the other signers whether the policy was changed');
});

test('each key of the vault needs t agreements of its own, and exceptions are named for each key', async () => {
  const both = [key, newKey()];
  const story = { keys: both, wallet: null, except: { 3: linkOf(first) } };
  expect(await toName(story)).toEqual(['3:behind', '3:behind']);
});

test('a co-signer that states a policy older than the verified ones is reported as behind', async () => {
  const third = successor(second);
  const policies = [...chain, changed(third)];
  const now = { ...pinned, policy: linkOf(third) };
  const story = { policies, states: third, device: now, policyVersion: 3 };
  expect(await toName({ ...story, except: { 1: linkOf(first) } })).toEqual(['1:behind']);
  expect(await toName({ ...story, except: { 1: linkOf(successor(first)) } })).toEqual(['1:other-history']);
  expect(await toName({ ...story, except: { 1: { version: 0, hash: hashOf(first) } } })).toEqual(['1:other-history']);
});

test('a renewal of version k is checked against co-signers of version k - 1 and k, and against no other policy', async () => {
  const third = successor(second);
  const policies = [...chain, changed(third)];
  const renewal = { policies, states: third, proposed: third, wallet: null };
  expect(await outcome(renewal)).toMatchObject({ isRenewal: true, exceptions: [], pinned: { policy: linkOf(third) } });
  expect(await toName({ ...renewal, except: { 1: linkOf(second) } })).toEqual([]);
  // Most co-signers are behind. The device approves, and does not remember version 3 as proven.
  const late = { ...renewal, except: { 1: linkOf(second), 2: linkOf(second) } };
  expect(await outcome(late)).toMatchObject({ isRenewal: true, exceptions: [], pinned });
  expect(await toName({ ...renewal, except: { 1: linkOf(first) } })).toEqual(['1:behind']);
  const older = { 1: linkOf(first), 2: linkOf(first) };
  expect(await prove({ ...renewal, except: older })).toContain('Fewer than 2 co-signers state');
  // A new change, or another policy of that version, is no renewal. For it the newest version is
  // required.
  const forked = { ...late, proposed: successor(second, { threshold: 1 }) };
  expect(await prove(forked)).toContain('Fewer than 2 co-signers state');
  expect(await outcome({ ...renewal, proposed: successor(third) })).toMatchObject({ isRenewal: false });
  // Version 2 is renewed while version 3 is in force.
  expect(await toName({ ...renewal, proposed: second, except: { 2: linkOf(second), 3: linkOf(first) } })).toEqual([]);
});

test('a policy that names another signing threshold than the confirmed one proves nothing', async () => {
  const device = { ...pinned, threshold: 3 };
  expect(await prove({ device })).toContain('You confirmed that it is 3.');
  // The coordinator cannot show the confirmed number in a successor: co-signers never adopt it.
  const raised = successor(first, { signingThreshold: 3 });
  const story = { device, states: raised, policies: [creation(first), changed(raised)], signingThreshold: 2 };
  expect(await prove(story)).toContain('Fewer than 3 co-signers state');
});

test('the confirmed threshold stays when a quorum names another number of co-signers', async () => {
  const two = cosigners.slice(0, 2);
  const moved = successor(first, { cosigners: pinsOf(two) });
  const story = { by: two, states: moved, policies: [creation(first), changed(moved)] };
  expect(await prove(story)).toMatchObject({ cosigners: pinsOf(two), threshold: 2 });
});

test('a policy chain that is older than the verified one, or differs from it, proves nothing', async () => {
  const now = { ...pinned, policy: { version: 2, hash: hashOf(second) } };
  const older = { policies: chain.slice(0, 1), states: first, device: now, policyVersion: 1 };
  expect(await prove(older)).toContain('an older policy than this device has verified');
  const forked = successor(first, { threshold: 1 });
  const other = { policies: [creation(first), changed(forked)], states: forked, device: now };
  expect(await prove(other)).toContain('other policies than this device has verified');
  expect(await prove({ policies: [] })).toContain('an older policy');
});

test("statements about another key than the wallet's prove nothing", async () => {
  const mallorys = newKey();
  expect(await prove({ keys: [mallorys] })).toContain('not the key of the wallet');
  expect(await prove({ keys: [{ ...mallorys, publicKey: key.publicKey }] })).toContain('does not match its public key');
  expect(await prove({ keys: [] })).toContain('A wallet has exactly one key');
  expect(await prove({ keys: [key, mallorys] })).toContain('A wallet has exactly one key');
  expect(await prove({ keys: [], wallet: null, device: { ...pinned, keyIds: [] } })).toContain('no key yet');
});

test('a request about the whole vault also requires statements for a key that the service omits', async () => {
  const both = [key, newKey()];
  const known = await prove({ keys: both, wallet: null });
  if (typeof known === 'string') throw new Error(known);
  expect(known.keyIds).toEqual(both.map(({ keyId }) => keyId));
  expect(await prove({ device: known, wallet: null })).toContain('Fewer than 2 co-signers state');
  expect(await prove({ device: known })).toEqual({ ...known });
});

test('new co-signer keys are accepted only if the previous quorum has signed them', async () => {
  const moved = successor(first, { cosigners: pinsOf(others) });
  const story = { by: others, states: moved };
  const signed = await prove({ ...story, policies: [creation(first), changed(moved)] });
  expect(signed).toMatchObject({ cosigners: pinsOf(others), policy: { version: 2, hash: hashOf(moved) } });
  const alone = { ...story, policies: [creation(first), changed(moved, [byLaptop])] };
  expect(await prove(alone)).toContain('Pin them again with their fingerprint');
});
