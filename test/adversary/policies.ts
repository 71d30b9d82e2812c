import { nameOf, policyHashOf } from '#devices/policy-succession.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { inCanonicalOrder } from '#domain/policy/rules.ts';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { AttestationStage } from '#cosigner/policy/attestation.ts';
import { attestationKeysOf } from '#cosigner/policy/attestation.ts';
import { clock, HOUR_MS } from './clock.ts';
import type { SignaturesByStage } from './cosigner.ts';
import { BITCOIN, BTC, ETHER, ETHEREUM, TOKEN } from './networks.ts';
import type { Owned } from './people.ts';
import { devicesOf, digestOf, FORGED, PEOPLE } from './people.ts';
import type { World } from './world.ts';

/** Attacks on policies, at key generation and at a policy change. */

/** Returns rules with plausible limits. `spelling` changes the spelling of the token's address. */
function limited(rules: Rules, spelling: (address: string) => string): Rules {
  const limit = (chain: string, tokenAddress: string | null, units: bigint) => {
    return { chain, tokenAddress, perTransaction: amountOf(units), perDay: null };
  };
  const limits = [
    limit(ETHEREUM, null, ETHER),
    limit(ETHEREUM, spelling(TOKEN), 1_000n),
    limit(BITCOIN, null, BTC / 10n),
  ];
  return inCanonicalOrder({ ...rules, limits });
}

/**
 * Returns a spelling: people read the lower-case address as the same one, but a rule does not
 * accept it as an address.
 */
function spellingOf({ chance }: World): (address: string) => string {
  return chance.percent(30) ? (address) => address : (address) => address.toLowerCase();
}

export function nextOf(before: Policy, change: Partial<Policy>): Policy {
  return { ...before, version: before.version + 1, previousHash: policyHashOf(before), ...change };
}

/** Returns a policy with a mandate that these devices sign. */
export function mandated({ people, chance }: World, policy: Policy, owners: readonly Owned[]): AdoptedPolicy {
  const expiresAtMs = clock.nowMs + HOUR_MS;
  const id = newPolicyChangeId(clock.nowMs, chance.bytes(10));
  const terms = { id, note: null, createdAtMs: clock.nowMs, expiresAtMs };
  const digest = digestOf(mandateBytes(terms, policyHashOf(policy)));
  return { policy, mandate: { ...terms, policy, approvals: people.sign(digest, owners) } };
}

/** Returns the policy of the people with two more devices, which are mallory's. */
export function hiddenBehind(first: Policy): Policy {
  return nextOf(first, { devices: [...first.devices, ...devicesOf(FORGED)].toSorted(byKeyId) });
}

function byKeyId(a: { readonly keyId: string }, b: { readonly keyId: string }): number {
  return a.keyId < b.keyId ? -1 : 1;
}

/**
 * Returns a list of policies that is no vault's history, each of which would serve mallory if a
 * co-signer accepted it.
 */
function lyingChain(world: World, first: Policy): readonly AdoptedPolicy[] {
  const { chance, people } = world;
  const version1 = mandated(world, first, people.devices);
  const hidden = hiddenBehind(first);
  const bare = (policy: Policy): AdoptedPolicy => ({ policy, mandate: null });
  const signed = (policy: Policy) => mandated(world, policy, FORGED);
  // The first policy on a hostile day, and with the signatures of people who read another one.
  const hostile: Policy = { ...hidden, version: 1, previousHash: first.previousHash };
  const { mandate } = version1;
  const read = mandate?.approvals ?? [];
  const spliced = (forged: AdoptedPolicy): AdoptedPolicy => {
    const own = forged.mandate;
    return own === null ? forged : { ...forged, mandate: { ...own, approvals: [...own.approvals, ...read] } };
  };
  const inToken: Policy = { ...first, approvalMode: 'token' };
  return chance.of([
    [bare(hostile)],
    [signed(hostile)],
    [spliced(signed(hostile))],
    [{ policy: hostile, mandate: mandate === null ? null : { ...mandate, policy: hostile } }],
    [bare(inToken), spliced(signed({ ...hostile, version: 2, previousHash: policyHashOf(inToken) }))],
    [version1, bare(hidden)],
    [version1, signed(hidden)],
    [version1, signed({ ...hidden, version: 900 })],
    [version1, signed({ ...hidden, previousHash: 'ff'.repeat(32) })],
    [version1, bare({ ...hidden, version: 1 })],
    [bare({ ...hidden, version: 0 }), version1],
    [signed(hidden)],
  ]);
}

/** Sends lists of policies to all co-signers, until they generate a key together. */
export async function keyGeneration(world: World): Promise<void> {
  const { chance, people, coordinator, say } = world;
  const { policy: plain } = people;
  const canonical = chance.percent(40) ? { ...plain, rules: limited(plain.rules, (address) => address) } : plain;
  const spelled = chance.percent(25) ? { ...plain, rules: limited(plain.rules, spellingOf(world)) } : canonical;
  const tries: (readonly AdoptedPolicy[])[] = [];
  if (chance.percent(40)) tries.push(lyingChain(world, spelled));
  const signed = [spelled, canonical].map((policy) => mandated(world, policy, people.devices));
  tries.push(...signed.map((one) => [one]));
  for (const sent of tries) {
    say(`makes a key with ${sent.map(({ policy }) => `version ${policy.version}`).join(', ')}`);
    if (!(await isInstalled(world, sent))) continue;
    const [first] = sent;
    const isRead = signed.some(
      ({ policy }) => first !== undefined && policyHashOf(policy) === policyHashOf(first.policy),
    );
    if (first === undefined || !isRead) throw new Error('co-signers took a first policy that the people did not sign');
    people.policy = first.policy;
    coordinator.policies.push(...sent);
    world.signers.pin(people.policy);
    for (const index of world.honest.keys()) world.oracle.created(index, people.policy);
    return;
  }
  throw new Error('co-signers refuse the policy of the people');
}

async function isInstalled(world: World, sent: readonly AdoptedPolicy[]): Promise<boolean> {
  const { chance, honest, say } = world;
  // Sometimes a part of the co-signers is shown a shorter list.
  const isSplit = sent.length > 1 && chance.percent(20);
  for (const [index, cosigner] of honest) {
    const shown = isSplit && chance.percent(50) ? sent.slice(0, 1) : sent;
    const answer = await cosigner.adopt(shown, { chosen: new Map(), adopted: new Map() });
    if (answer !== 'adopted') {
      say(`  co-signer ${index} refuses: ${answer}`);
      return false;
    }
  }
  // All participants sign the hash of the policy in the session before they store a share.
  const [first, ...others] = [...honest.values()].map(({ inForce }) => inForce);
  if (first === undefined || others.some((other) => policyHashOf(other) !== policyHashOf(first))) {
    say('  the co-signers are in different sessions');
    return false;
  }
  if (first.approvalMode === 'token') {
    // A policy in token mode needs no founding. The devices of the people find another history.
    say('  the people pay nothing into a vault in token mode');
    return false;
  }
  const installed = [...honest.values()].map((cosigner) => cosigner.installed(first));
  if (installed.every((one) => one)) return true;
  throw new Error('a co-signer has another policy than before');
}

/**
 * Has the people sign a policy change. The coordinator shows it to all co-signers, to some, or only
 * when it has expired.
 */
export async function changePolicy(world: World): Promise<void> {
  const { chance, people, coordinator, honest, say } = world;
  const [before, all] = [people.policy, [...honest.keys()]];
  const kind = chance.of(['revoke', 'revoke', 'limits', 'holiday', 'holiday', 'all three'] as const);
  const fresh = people.nextDevices();
  if (kind === 'revoke' && fresh === null) return;
  const change: Record<typeof kind, Partial<Policy>> = {
    revoke: { devices: devicesOf(fresh ?? []) },
    limits: { rules: limited(before.rules, spellingOf(world)) },
    holiday: { threshold: 1 },
    'all three': { threshold: PEOPLE.length },
  };
  const policy = nextOf(before, change[kind]);
  const owners = chance.some(people.devices, Math.max(before.threshold, chance.of([2, 3])));
  const adopting = mandated(world, policy, owners);
  coordinator.policies.push(adopting);
  say(`the people sign version ${policy.version}: ${kind}`);
  if (chance.percent(kind === 'holiday' ? 85 : 15)) {
    // The change expires before the people see it adopted, so they continue with the former policy.
    clock.nowMs += 2 * HOUR_MS;
    say('  the coordinator keeps it until it has expired');
    if (chance.percent(60)) await show(world, adopting, all);
    return;
  }
  if (chance.percent(20)) {
    // The coordinator says that it failed, so the people sign another policy of this version later.
    say('  the coordinator keeps it');
    if (chance.percent(50)) await show(world, adopting, chance.some(all, 1));
    return;
  }
  people.policy = policy;
  if (kind === 'revoke') people.replaceDevices();
  await show(world, adopting, chance.percent(60) ? all : chance.some(all, chance.upTo(all.length + 1)));
}

/** Has the people revoke their devices, as long as they have others, and informs one co-signer. */
export async function revokeAtOne(world: World): Promise<void> {
  const { chance, people, coordinator, honest, say } = world;
  const fresh = people.nextDevices();
  if (fresh === null) return;
  const policy = nextOf(people.policy, { devices: devicesOf(fresh) });
  const adopting = mandated(world, policy, people.devices);
  coordinator.policies.push(adopting);
  say(`the people sign version ${policy.version}: revoke`);
  people.policy = policy;
  people.replaceDevices();
  await show(world, adopting, chance.some([...honest.keys()], 1));
}

/**
 * Has the people sign two policies of one version: the coordinator says that the first one failed.
 * Then it shows each of them to a part of the co-signers.
 */
export async function splitHistory(world: World): Promise<void> {
  const { chance, people, coordinator, honest, say } = world;
  const before = people.policy;
  const policies = [nextOf(before, {}), nextOf(before, { threshold: PEOPLE.length })];
  const [first, second] = policies.map((policy) => mandated(world, policy, people.devices));
  if (first === undefined || second === undefined) return;
  coordinator.policies.push(first, second);
  say(`the people sign two policies of version ${before.version + 1}`);
  const parts = chance.some([...honest.keys()], chance.upTo(honest.size + 1));
  await show(world, first, parts);
  people.policy = second.policy;
  await show(
    world,
    second,
    [...honest.keys()].filter((index) => !parts.includes(index)),
  );
}

/** Shows any known policy to some co-signers, with all attestations that the coordinator gets. */
export async function showAnything(world: World): Promise<void> {
  const { chance, coordinator, honest } = world;
  const all = [...honest.keys()];
  // Version 1 is known to every co-signer; the coordinator shows it again occasionally.
  const later = coordinator.policies.filter(({ mandate }) => mandate !== null || chance.percent(10));
  const adopting = later.length > 0 && chance.percent(80) ? chance.of(later) : forgedChange(world);
  await show(world, adopting, chance.percent(50) ? all : chance.some(all, 1 + chance.upTo(all.length)));
}

/** Shows a next policy that too few devices of the vault have signed, or none of them. */
function forgedChange(world: World): AdoptedPolicy {
  const { chance, people, coordinator } = world;
  // Has one device sign a policy with threshold 1, under which its owner could decide alone.
  const isLonely = chance.percent(40);
  const owners = isLonely ? chance.some(people.devices, 1) : [...FORGED, ...people.stolen];
  const next = isLonely ? nextOf(people.policy, { threshold: 1 }) : hiddenBehind(people.policy);
  const forged = mandated(world, next, owners);
  coordinator.policies.push(forged);
  return forged;
}

async function show(world: World, adopting: AdoptedPolicy, to: readonly PartyIndex[]): Promise<void> {
  const { honest, oracle, say } = world;
  const attestations = await attestationsFor(world, adopting);
  for (const index of to) {
    const answer = await honest.get(index)?.adopt([adopting], attestations);
    say(`shows version ${adopting.policy.version} to co-signer ${index}: ${answer}`);
    if (answer === 'adopted') oracle.adopted(index, adopting);
  }
}

/**
 * Returns attestations of a policy, of all honest co-signers or of some. Hostile ones attest
 * anything, in both stages, and also in the names of others.
 */
async function attestationsFor(
  { chance, honest, hostile }: World,
  adopting: AdoptedPolicy,
): Promise<SignaturesByStage> {
  const attestations = { chosen: new Map<PartyIndex, Uint8Array>(), adopted: new Map<PartyIndex, Uint8Array>() };
  const stages: readonly AttestationStage[] = ['chosen', 'adopted'];
  for (const [index, cosigner] of honest) {
    if (chance.percent(25)) continue;
    const given = await cosigner.attest(adopting);
    if (typeof given === 'string' || given.attestation === null) continue;
    // An honest attestation is sometimes sent with the other stage.
    const stage = chance.percent(10) ? chance.of(stages) : given.stage;
    if (stage !== 'none') attestations[stage].set(index, hexToBytes(given.attestation));
  }
  const [liar] = hostile.values();
  for (const stage of stages) {
    const endsAtMs = stage === 'adopted' ? null : (adopting.mandate?.expiresAtMs ?? null);
    const attested = { policy: nameOf(adopting.policy), stage, endsAtMs };
    const sign = ({ own, peers }: CosignerSet) => attestationKeysOf({ own, peers }).sign(attested);
    for (const [index, membership] of hostile) attestations[stage].set(index, await sign(membership));
    for (const index of honest.keys()) {
      if (liar === undefined || attestations[stage].has(index)) continue;
      attestations[stage].set(index, await sign({ ...liar, own: { ...liar.own, index } }));
    }
  }
  return attestations;
}
