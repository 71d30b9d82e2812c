import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { StatementEntry } from '#devices/statement.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { PolicyStatement, SignedStatement } from '#domain/policy/statement.ts';
import { statementBytes } from '#domain/policy/statement.ts';
import { parseVaultId } from '#domain/id.ts';
import type { CosignerIdentity } from '#mpc/envelope.ts';
import { signAsCosigner } from '#mpc/envelope.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { present } from '../chains/evm/cast.ts';
import { clock, HOUR_MS, MINUTE_MS } from './clock.ts';
import type { Proposal } from './coordinator.ts';
import type { AdoptedCounts } from './oracle.ts';
import type { Owned } from './people.ts';
import { FORGED } from './people.ts';
import { changePolicy, hiddenBehind, mandated, nextOf } from './policies.ts';
import type { World } from './world.ts';

/**
 * Attacks on the policy in force. A device shows a chain of policies and requests statements about
 * the last one, each time with a new nonce. The coordinator delivers the chain and the answers.
 */

/**
 * The compressed point 3G: another key of the vault, whose co-signers were shown version 1 only.
 */
const OTHER_KEY = '02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9';
const SCHEME = 'ecdsa-secp256k1';
const OTHER_KEY_ID = keyIdOf(SCHEME, hexToBytes(OTHER_KEY));
const OTHER_VAULT = present(parseVaultId(8));

/**
 * Returns the policies that a device is shown, from version 1 on. The last one is claimed to be in
 * force.
 */
export function shownChain(world: World): readonly AdoptedPolicy[] {
  const { chance, coordinator, people } = world;
  const claim = chance.of(['newest', 'newest', 'any', 'any', 'any', 'any', 'hidden', 'other co-signers'] as const);
  switch (claim) {
    case 'newest':
      return chainTo(world, people.policy);
    case 'any':
      return chainTo(world, chance.of(coordinator.policies).policy);
    case 'hidden':
      return forgedChain(world, hiddenBehind(people.policy));
    case 'other co-signers':
      return forgedChain(world, nextOf(people.policy, { cosigners: world.group.forgedPins }));
  }
}

/** Returns a chain whose last policy is signed by mallory's devices. */
function forgedChain(world: World, next: Policy): readonly AdoptedPolicy[] {
  const { coordinator, people } = world;
  const forged = mandated(world, next, FORGED);
  coordinator.policies.push(forged);
  return [...chainTo(world, people.policy), forged];
}

function chainTo({ coordinator }: World, last: Policy): readonly AdoptedPolicy[] {
  const chain: AdoptedPolicy[] = [];
  const find = (hash: string) => coordinator.policies.find(({ policy }) => policyHashOf(policy) === hash);
  for (let one = find(policyHashOf(last)); one !== undefined; one = find(one.policy.previousHash)) chain.unshift(one);
  return chain;
}

/** The request of a device for statements, and the coordinator's plan to answer it. */
interface StatementQuery {
  readonly nonce: string;
  readonly adopted: AdoptedCounts;
  /** The policy that the device is shown as the one in force. */
  readonly shown: Policy;
  readonly keyId: string;
  /** Statements that the coordinator has withheld since the request of the device. */
  readonly early: ReadonlyMap<PartyIndex, SignedStatement>;
  /**
   * The false answer for every honest co-signer that has another policy in force; null to draw one
   * for each.
   */
  readonly lie: StatementLie | null;
}

/** Has devices of the people approve a proposal. Reports whether one of them did. */
export async function requestDevices(
  world: World,
  proposal: Proposal,
  chain: readonly AdoptedPolicy[],
): Promise<boolean> {
  const { chance, people, say } = world;
  const shown = present(chain.at(-1)).policy;
  // One or two devices suffice for a false policy, because the first device already detects it or
  // not.
  const count = policyHashOf(shown) === policyHashOf(people.policy) ? chance.of([2, 2, 3]) : chance.of([1, 1, 2]);
  const owners = chance.some(people.devices, count);
  say(`shows version ${shown.version} to the devices of ${owners.map(({ name }) => name).join(', ')}`);
  // One kind of false answer for all co-signers that would not confirm the shown policy, or another
  // for each.
  const lie = chance.percent(60) ? chance.of(['fresh', ...LIES] as const) : null;
  if (lie === 'older' || chance.percent(20)) await collect(world);
  if (chance.percent(lie === 'older' ? 50 : 10)) await meanwhile(world);
  // The coordinator sometimes names the key of another wallet of the vault in place of this one.
  const keyId = chance.percent(8) ? OTHER_KEY_ID : world.group.keyId;
  const all: (StatementQuery & { readonly owner: Owned })[] = [];
  for (const owner of owners) all.push({ owner, shown, keyId, lie, ...(await callOf(world, lie)) });
  if (chance.percent(lie === 'early' ? 60 : 10)) await meanwhile(world);
  let isApproved = false;
  for (const query of all) {
    if (await isConvinced(world, query, { proposal, chain })) {
      proposal.approvals.push(...people.sign(proposal.digest, [query.owner]));
      isApproved = true;
    }
  }
  return isApproved;
}

/** Requests statements of the coordinator's own, to keep them for later. */
async function collect({ chance, coordinator, honest }: World): Promise<void> {
  const nonce = bytesToHex(chance.bytes(32));
  for (const cosigner of honest.values()) coordinator.statements.push(await cosigner.state(nonce));
}

/** Changes the policy while a device waits for its answer, which sometimes takes long. */
async function meanwhile(world: World): Promise<void> {
  await changePolicy(world);
  const waitMs = world.chance.of([0, MINUTE_MS, 4 * MINUTE_MS, 6 * MINUTE_MS, HOUR_MS]);
  clock.nowMs += waitMs;
  if (waitMs > 0) world.say(`  ${waitMs / MINUTE_MS} minutes pass`);
}

async function callOf({ chance, honest, oracle }: World, lie: StatementLie | null) {
  const nonce = bytesToHex(chance.bytes(32));
  const early = new Map<PartyIndex, SignedStatement>();
  const adopted = oracle.adoptedCounts();
  const isKept = lie === 'early' || lie === null;
  if (isKept) for (const [index, cosigner] of honest) early.set(index, await cosigner.state(nonce));
  return { nonce, adopted, early };
}

async function isConvinced(
  world: World,
  query: StatementQuery & { readonly owner: Owned },
  { proposal: { intent }, chain }: { readonly proposal: Proposal; readonly chain: readonly AdoptedPolicy[] },
): Promise<boolean> {
  const { group, oracle, signers, say } = world;
  const { owner, nonce, shown, adopted } = query;
  const { entries, isContradicted } = await answersTo(world, query);
  const isOther = query.keyId === OTHER_KEY_ID;
  const publicKey = isOther ? OTHER_KEY : bytesToHex(group.key.publicKey);
  const call = {
    vaultId: intent.vaultId,
    nonce,
    delivered: { keys: [{ keyId: query.keyId, scheme: SCHEME, publicKey }], statements: entries },
    policyVersion: intent.policyVersion,
    wallet: { chain: intent.chain, address: intent.from },
  } as const;
  const setSimilar = await signers.setSimilar(owner.device.keyId, { call, intent }, chain);
  const verdict = setSimilar === null ? `approves under version ${shown.version}` : `does not approve: ${setSimilar}`;
  say(`  ${owner.name} ${verdict}`);
  if (setSimilar !== null) return false;
  oracle.approved({ deviceId: owner.device.keyId, policy: shown, adoptedCounts: adopted, isContradicted });
  for (const fault of oracle.faults) say(`  FAULT: ${fault}`);
  return true;
}

/** Returns the statements that the coordinator delivers for each co-signer. */
async function answersTo(world: World, query: StatementQuery) {
  const { group, honest } = world;
  const entries: StatementEntry[] = [];
  let isContradicted = false;
  for (const index of group.parties) {
    const truth = honest.get(index)?.inForce;
    const isTruthUseful = truth !== undefined && policyHashOf(truth) === policyHashOf(query.shown);
    const isHonest = honest.has(index);
    // When the policy names forged co-signer keys, the statements are signed with those keys.
    const isReplaced = query.shown.cosigners === world.group.forgedPins;
    const honestly = isHonest ? lieFor(world, query, isTruthUseful) : world.chance.of(LIES_OF_HOSTILE);
    const lie = isReplaced ? 'forged' : honestly;
    const delivered = await answerOf(world, { query, index, lie });
    const isOfThisKey = query.keyId === group.keyId;
    if (lie === 'fresh' && isOfThisKey && delivered.length === 1 && !isTruthUseful) isContradicted = true;
    const [cosigner, keyId] = [index, query.keyId];
    for (const statement of delivered) entries.push({ cosigner, keyId, statement });
    if (delivered.length > 0) world.say(`  for co-signer ${index}: ${isHonest ? lie : `${lie} (hostile)`}`);
  }
  return { entries, isContradicted };
}

const LIES = [
  'fresh',
  'early',
  'older',
  'of another key',
  'of another vault',
  'of another co-signer',
  'forged',
  'altered',
  'twice',
  'none',
] as const;
const LIES_OF_HOSTILE = ['forged', 'forged', 'forged', 'of another co-signer', 'none'] as const;
type StatementLie = (typeof LIES)[number];

/**
 * Returns the kind of answer for an honest co-signer. The truth serves the coordinator best when it
 * confirms the shown policy.
 */
function lieFor({ chance }: World, { lie }: StatementQuery, isTruthUseful: boolean): StatementLie {
  if (isTruthUseful && chance.percent(85)) return 'fresh';
  return lie ?? chance.of(['fresh', ...LIES, 'none', 'none'] as const);
}

interface Requested {
  readonly query: StatementQuery;
  /** The co-signer for which the statement is delivered. */
  readonly index: PartyIndex;
  readonly lie: StatementLie;
}

/** Returns the statements that the coordinator delivers for a co-signer. */
async function answerOf(world: World, { query, index, lie }: Requested): Promise<readonly SignedStatement[]> {
  const { honest, hostile } = world;
  const cosigner = honest.get(index);
  const state = async (...other: readonly (readonly [string, Policy])[]) => {
    const [about] = other.map(([keyId, policy]) => ({ keyId, policy }));
    return cosigner === undefined ? [] : [await cosigner.state(query.nonce, about)];
  };
  const { first } = world.signers;
  switch (lie) {
    case 'fresh':
      return query.keyId === OTHER_KEY_ID ? state([OTHER_KEY_ID, first]) : kept(world, await state());
    case 'early': {
      const early = query.early.get(index);
      return early === undefined ? [] : [early];
    }
    case 'older':
      return older(world, query, index);
    case 'of another key':
      return state([OTHER_KEY_ID, first]);
    case 'of another vault':
      return state([query.keyId, { ...first, vaultId: OTHER_VAULT }]);
    case 'of another co-signer': {
      const [liar] = hostile.values();
      return liar === undefined ? [] : [await signedByLiar(liar.own, query)];
    }
    case 'forged': {
      const isReplaced = query.shown.cosigners === world.group.forgedPins;
      const own = (isReplaced ? undefined : hostile.get(index)?.own) ?? impostor(world, index);
      return [await signedByLiar(own, query)];
    }
    case 'altered': {
      const stated = cosigner === undefined ? [] : await state();
      return stated.map((one) => ({ ...one, ...named(query.shown) }));
    }
    case 'twice':
      return [...(await state()), await signedByLiar(impostor(world, index), query)];
    case 'none':
      return [];
  }
}

function impostor({ group }: World, index: PartyIndex): CosignerIdentity {
  return present(group.impostors.get(index));
}

/** Keeps statements for later answers, and returns them. */
function kept({ coordinator }: World, statements: readonly SignedStatement[]): readonly SignedStatement[] {
  coordinator.statements.push(...statements);
  return statements;
}

/**
 * Returns a statement that the co-signer signed for another nonce, preferably of the shown policy.
 */
function older({ coordinator }: World, { shown }: StatementQuery, index: PartyIndex): readonly SignedStatement[] {
  const known = coordinator.statements.filter(({ cosigner }) => cosigner === index);
  const best = known.findLast(({ policyHash }) => policyHash === policyHashOf(shown)) ?? known.at(-1);
  return best === undefined ? [] : [best];
}

function named({ version, ...rest }: Policy) {
  return { policyVersion: version, policyHash: policyHashOf({ version, ...rest }) };
}

/** Returns the statement that the coordinator needs, with the signature of a hostile co-signer. */
async function signedByLiar(own: CosignerIdentity, { nonce, shown, keyId }: StatementQuery): Promise<SignedStatement> {
  const { vaultId, signingThreshold } = shown;
  const about = { cosigner: own.index, vaultId, keyId, signingThreshold, epoch: 1, issuedAtMs: clock.nowMs, nonce };
  const statement: PolicyStatement = { ...about, ...named(shown) };
  return { ...statement, signature: bytesToHex(await signAsCosigner(own, statementBytes(statement))) };
}
