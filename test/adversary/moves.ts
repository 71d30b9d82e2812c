import { hexToBytes } from '@noble/hashes/utils.js';
import type { SignedRecord } from '#cosigner/tables/signed-table.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { signAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { recordBytes } from '#cosigner/policy/signed-record.ts';
import { clock, HOUR_MS, MINUTE_MS } from './clock.ts';
import type { Proposal, PaymentRequest } from './coordinator.ts';
import type { Bytes, Payee } from './networks.ts';
import {
  BITCOIN,
  BTC,
  bytesOf,
  ETHER,
  ETHEREUM,
  isBitcoin,
  NAMES,
  payeeOn,
  SEPOLIA,
  TESTNET,
  TOKEN,
} from './networks.ts';
import { activateShares, refreshShares } from './epochs.ts';
import { FORGED, PEOPLE } from './people.ts';
import { changePolicy, revokeAtOne, showAnything, splitHistory } from './policies.ts';
import { requestDevices, shownChain } from './requests.ts';
import { abandon, begin, finish, receiptsFor, recordFor, restart } from './sessions.ts';
import type { World } from './world.ts';

/**
 * A move of the coordinator, drawn with a probability by its weight. Some moves are honest, because
 * a vault that signs nothing would prove nothing.
 */
export interface Lie {
  readonly name: string;
  readonly weight: number;
  readonly play: (world: World) => Promise<void>;
}

export const LIES: readonly Lie[] = [
  { name: 'the people approve', weight: 20, play: peopleApprove },
  { name: 'devices ask the co-signers', weight: 9, play: devicesApprove },
  { name: 'a thief approves', weight: 14, play: thiefApproves },
  { name: 'the policy changes', weight: 12, play: changePolicy },
  { name: 'a policy is shown', weight: 12, play: showAnything },
  { name: 'something is signed', weight: 16, play: signAnything },
  { name: 'a payment is made again', weight: 12, play: payAgain },
  { name: 'an approval serves another network', weight: 5, play: useOtherNetwork },
  { name: 'two policies of one version', weight: 3, play: splitHistory },
  { name: 'co-signers of two policies sign together', weight: 6, play: joinPolicies },
  { name: 'last messages come late', weight: 8, play: finishLater },
  { name: 'receipts are collected in advance', weight: 4, play: collectReceipts },
  { name: 'a record is forged', weight: 4, play: forgeRecord },
  { name: 'a record of revoked devices comes late', weight: 4, play: attestLate },
  { name: 'new shares are dealt', weight: 5, play: refreshShares },
  { name: 'new shares come into use', weight: 4, play: activateShares },
  { name: 'time passes', weight: 6, play: passTime },
  { name: 'a co-signer restarts', weight: 3, play: restartOne },
];

const ORDINARY_FEES: Readonly<Record<string, bigint>> = {
  [ETHEREUM]: ETHER / 100n,
  [SEPOLIA]: ETHER / 100n,
  [BITCOIN]: 100_000n,
  [TESTNET]: 100_000n,
};

function payment({ chance }: World, to: Payee): PaymentRequest {
  const chain = chance.of([ETHEREUM, ETHEREUM, ETHEREUM, SEPOLIA, BITCOIN, TESTNET]);
  const isLarge = chance.percent(30);
  const ordinary = ORDINARY_FEES[chain] ?? 0n;
  if (isBitcoin(chain)) {
    const amount = chain === TESTNET || isLarge ? (15n * BTC) / 10n : BTC / 100n;
    return { chain, tokenAddress: null, amount, maxFee: chance.percent(87) ? ordinary : (4n * BTC) / 10n, to };
  }
  const maxFee = chance.percent(87) ? ordinary : 10n * ETHER;
  const isToken = chain === ETHEREUM && chance.percent(40);
  if (isToken) return { chain, tokenAddress: TOKEN, amount: isLarge ? 1_000_000n : 100n, maxFee, to };
  // The second large amount is within the limit of one ether, and its fee takes it above the limit.
  const amount = chance.of(isLarge ? [5n * ETHER, ETHER - ETHER / 200n] : [ETHER / 10n]);
  return { chain, tokenAddress: null, amount, maxFee, to };
}

/** Returns the policy that an intent names: usually the one in force, sometimes another. */
function named(world: World) {
  const { chance, coordinator, people } = world;
  return chance.percent(75) ? people.policy : chance.of(coordinator.policies).policy;
}

/** Returns the creation time that the coordinator claims for an intent. */
function createdAt({ chance }: World): number {
  if (chance.percent(75)) return clock.nowMs;
  return clock.nowMs + chance.of([-HOUR_MS, -30 * 24 * HOUR_MS, 2 * HOUR_MS]);
}

async function peopleApprove(world: World): Promise<void> {
  const { chance, coordinator, people, say } = world;
  // When a policy has a threshold of one, the coordinator tries it with a single approval.
  const lax = chance.percent(40) ? coordinator.policies.find(({ policy }) => policy.threshold === 1) : undefined;
  const policy = lax?.policy ?? named(world);
  const proposal = coordinator.propose(payment(world, 'supplier'), policy, { createdAtMs: createdAt(world) });
  const { threshold } = people.policy;
  const count = lax === undefined ? chance.of([threshold - 1, threshold, threshold, PEOPLE.length]) : 1;
  const owners = chance.some(people.devices, Math.max(count, 1));
  proposal.approvals.push(...people.sign(proposal.digest, owners));
  say(`${owners.map(({ actor }) => people.nameOf(actor)).join(', ')} approve ${proposal.words}`);
  if (chance.percent(85)) await sign(world, proposal);
}

/**
 * Requests approvals from devices that have pinned the co-signers. They approve when the policies
 * and statements shown to them are convincing.
 */
async function devicesApprove(world: World): Promise<void> {
  const { chance, coordinator } = world;
  const chain = shownChain(world);
  const shown = chain.at(-1);
  if (shown === undefined) return;
  const { policy } = chance.percent(85) ? shown : chance.of(chain);
  const proposal = coordinator.propose(payment(world, 'supplier'), policy);
  if (await requestDevices(world, proposal, chain)) await sign(world, proposal);
}

/**
 * Approves with devices that were replaced, or with devices that no policy of the people contains.
 */
async function thiefApproves(world: World): Promise<void> {
  const { chance, coordinator, people, say } = world;
  const policy = chance.percent(70) ? chance.of(coordinator.policies).policy : people.policy;
  const proposal = coordinator.propose(payment(world, 'mallory'), policy, { createdAtMs: createdAt(world) });
  const owners = people.stolen.length > 0 && chance.percent(70) ? people.stolen : FORGED;
  proposal.approvals.push(...people.sign(proposal.digest, owners));
  say(`mallory approves ${proposal.words} with ${owners.map(({ name }) => name).join(', ')}`);
  await sign(world, proposal, chance.of(['intent', 'cancellation']));
}

async function signAnything(world: World): Promise<void> {
  const { chance, coordinator } = world;
  if (coordinator.proposals.length === 0) return;
  await sign(world, chance.of(coordinator.proposals), chance.percent(70) ? 'intent' : 'cancellation');
}

/**
 * Tries to have a signed proposal signed again: by another group, at another nonce, or with another
 * UTXO.
 */
async function payAgain(world: World): Promise<void> {
  const { chance, coordinator } = world;
  const paid = coordinator.proposals.filter(({ attempts }) => attempts > 0);
  if (paid.length === 0) return;
  const proposal = chance.of(paid);
  const elsewhere = { ...proposal, nonce: coordinator.nextNonce(), utxo: coordinator.utxo(proposal.intent.chain) };
  const bytes = composed(world, elsewhere, 'intent', proposal.attempts);
  const attempt = chance.of([1, 1, 1, proposal.attempts + 1]);
  if (bytes !== null) await signBytes(world, { proposal, bytes, attempt, purpose: 'intent' });
}

/** Tries to spend mainnet UTXOs with an approval for a test network, and the reverse. */
async function useOtherNetwork(world: World): Promise<void> {
  const { chance, coordinator, people, say } = world;
  const chain = chance.of([TESTNET, TESTNET, BITCOIN, SEPOLIA]);
  const other = chain === TESTNET ? BITCOIN : chain === BITCOIN ? TESTNET : ETHEREUM;
  const amount = isBitcoin(chain) ? BTC / 20n : ETHER / 10n;
  const maxFee = ORDINARY_FEES[chain] ?? 0n;
  const proposal = coordinator.propose({ chain, tokenAddress: null, amount, maxFee, to: 'supplier' }, people.policy);
  proposal.approvals.push(...people.sign(proposal.digest, people.devices));
  say(`all approve ${proposal.words}; the coordinator means ${NAMES[other]}`);
  const { intent } = proposal;
  const effect = isBitcoin(chain) ? intent : { ...intent, chain: other };
  const utxo = isBitcoin(chain) ? coordinator.utxo(other) : proposal.utxo;
  const bytes = bytesOf(effect, { fee: maxFee / 2n, nonce: proposal.nonce, utxo });
  if (bytes !== null) await signBytes(world, { proposal, bytes, attempt: 1, purpose: 'intent' });
}

/**
 * Has a policy change reach only some co-signers, and then requests a signature that both policies
 * allow from co-signers of both policies.
 */
async function joinPolicies(world: World): Promise<void> {
  const { chance, coordinator, group, honest, people, say } = world;
  const held = [...honest].map(([index, { inForce }]) => ({ index, policy: inForce }));
  const byVersion = held.toSorted((a, b) => (a.policy?.version ?? 0) - (b.policy?.version ?? 0));
  const [oldest, newest] = [byVersion[0], byVersion.at(-1)];
  if (oldest?.policy === undefined || oldest.policy.version === newest?.policy?.version) return;
  const maxFee = ORDINARY_FEES[ETHEREUM] ?? 0n;
  const requested: PaymentRequest = {
    chain: ETHEREUM,
    tokenAddress: null,
    amount: ETHER / 10n,
    maxFee,
    to: 'supplier',
  };
  const proposal = coordinator.propose(requested, oldest.policy);
  proposal.approvals.push(...people.sign(proposal.digest, people.devices));
  say(`all approve ${proposal.words}, which is superseded at some co-signers`);
  const both = [oldest.index, newest?.index];
  const rest = chance.some(
    group.parties.filter((party) => !both.includes(party)),
    group.threshold - both.length,
  );
  const signers = group.parties.filter((party) => both.includes(party) || rest.includes(party));
  const bytes = bytesOf(proposal.intent, { ...proposal, fee: maxFee / 2n });
  if (bytes !== null) await signBytes(world, { proposal, bytes, attempt: 1, purpose: 'intent' }, signers);
}

/**
 * Requests a receipt from each honest co-signer, for different bytes each, before any of them
 * signs, and then tries to have all these bytes signed.
 */
async function collectReceipts(world: World): Promise<void> {
  const { chance, coordinator, honest, say } = world;
  const isApproved = ({ approvals }: Proposal) => approvals.length >= world.people.policy.threshold;
  const proposals = coordinator.proposals.filter(isApproved);
  if (proposals.length === 0) return;
  const proposal = chance.of(proposals);
  say(`collects receipts for: ${proposal.words}`);
  const terms = { proposal, attempt: 1, purpose: 'intent', receipts: 'asked', policyVersion: null } as const;
  for (const index of honest.keys()) {
    const elsewhere = { nonce: coordinator.nextNonce(), utxo: coordinator.utxo(proposal.intent.chain) };
    const bytes = bytesOf(proposal.intent, { ...elsewhere, fee: (ORDINARY_FEES[proposal.intent.chain] ?? 0n) / 8n });
    if (bytes === null) continue;
    // The plan names all other co-signers as signers, so that only this one gets the request for a
    // receipt.
    const signers = world.group.parties.filter((party) => party !== index);
    await receiptsFor(world, { ...terms, bytes, signers });
    proposal.prepared.push(bytes);
  }
  for (const bytes of proposal.prepared) await signBytes(world, { ...terms, bytes });
}

/**
 * Composes the bytes of a proposal: mostly as proposed, sometimes with a higher fee, for another
 * payee, or at another nonce.
 */
function composed(world: World, proposal: Proposal, purpose: AttemptPurpose, before: number): Bytes | null {
  const { chance, coordinator } = world;
  const { intent } = proposal;
  const cap = BigInt(intent.maxFee);
  const ordinary = (ORDINARY_FEES[intent.chain] ?? 0n) / 8n;
  const raised = ordinary * 2n ** BigInt(Math.min(before, 3));
  const fee = chance.percent(92) ? chance.of([raised, raised, cap]) : cap * 2n;
  const effect = actionOfAttempt(intent, purpose);
  const isDiverted = purpose === 'intent' && chance.percent(5);
  const payee = isDiverted ? { ...intent, to: payeeOn(intent.chain, 'mallory') } : effect;
  const nonce = chance.percent(90) ? proposal.nonce : coordinator.nextNonce();
  const utxo = chance.percent(90) ? proposal.utxo : coordinator.utxo(proposal.intent.chain);
  return bytesOf(payee, { fee: fee > ETHER * 20n ? ETHER * 20n : fee, nonce, utxo });
}

async function sign(world: World, proposal: Proposal, purpose: AttemptPurpose = 'intent'): Promise<void> {
  const { chance } = world;
  const bytes = composed(world, proposal, purpose, proposal.attempts);
  const attempt = chance.percent(85) ? proposal.attempts + 1 : chance.of([1, 2]);
  if (bytes !== null) await signBytes(world, { proposal, bytes, attempt, purpose });
}

interface SignRequest {
  readonly proposal: Proposal;
  readonly bytes: Bytes;
  readonly attempt: number;
  readonly purpose: AttemptPurpose;
}

/** Has bytes signed by a group. The last messages are sometimes kept for later. */
async function signBytes(world: World, request: SignRequest, signers = someGroup(world)): Promise<void> {
  const { chance } = world;
  const policyVersion = chance.percent(95) ? null : 1 + chance.upTo(3);
  const plan = { ...request, signers, policyVersion };
  // A co-signer that gives a receipt also records the row, so the coordinator requests a receipt
  // only when it needs one.
  let begun = await begin(world, { ...plan, receipts: 'none' });
  if (begun === 'receipt-missing') {
    const receipts = chance.of(['asked', 'asked', 'forged', 'invented'] as const);
    begun = await begin(world, { ...plan, receipts });
  }
  if (begun === null || begun === 'receipt-missing') return;
  const all = [...begun.waiting.keys()];
  const now = chance.percent(80) ? all : chance.some(all, chance.upTo(all.length));
  if (now.length < all.length) world.say('  keeps last rounds for later');
  await finish(world, begun, now);
}

/** Returns as many co-signers as the threshold: with all hostile ones, or any. */
function someGroup({ chance, group, hostile }: World): readonly PartyIndex[] {
  const { parties, threshold } = group;
  const bad = chance.percent(50) ? [...hostile.keys()] : [];
  const rest = chance.some(
    parties.filter((party) => !bad.includes(party)),
    threshold - bad.length,
  );
  return parties.filter((party) => bad.includes(party) || rest.includes(party));
}

async function finishLater(world: World): Promise<void> {
  const { chance, coordinator, say } = world;
  if (coordinator.sessions.length === 0) return;
  const begun = chance.of(coordinator.sessions);
  say(`last rounds of: ${begun.proposal.words}`);
  if (chance.percent(10)) abandon(world, begun);
  else await finish(world, begun, [...begun.waiting.keys()]);
}

/** Shows honest co-signers a record that only hostile co-signers attest. */
async function forgeRecord(world: World): Promise<void> {
  const { chance, coordinator } = world;
  if (coordinator.proposals.length === 0) return;
  const proposal = chance.of(coordinator.proposals);
  const purpose = chance.of(['intent', 'intent', 'cancellation'] as const);
  const bytes = composed(world, proposal, purpose, 0);
  const record = bytes === null ? null : recordFor({ proposal, bytes, attempt: 1, purpose });
  if (record === null) return;
  await showRecord(world, proposal, record);
  const burning = composed(world, proposal, 'cancellation', 1);
  if (burning !== null) await signBytes(world, { proposal, bytes: burning, attempt: 2, purpose: 'cancellation' });
}

/**
 * Has revoked devices approve at a co-signer that does not know the revocation, shows its row to
 * the others, and requests a cancellation from one that knows the revocation.
 */
async function attestLate(world: World): Promise<void> {
  const { group, hostile, honest, coordinator, people, say } = world;
  await revokeAtOne(world);
  const held = [...honest].map(([index, { inForce }]) => ({ index, policy: inForce }));
  const byVersion = held.toSorted((a, b) => (a.policy?.version ?? 0) - (b.policy?.version ?? 0));
  const [oldest, newest] = [byVersion[0], byVersion.at(-1)];
  if (oldest?.policy === undefined || newest === undefined || oldest.policy === newest.policy) return;
  if (hostile.size < group.threshold - 1) return;
  const maxFee = ORDINARY_FEES[ETHEREUM] ?? 0n;
  const requested = { chain: ETHEREUM, tokenAddress: null, amount: ETHER / 10n, maxFee, to: 'supplier' } as const;
  const proposal = coordinator.propose(requested, oldest.policy);
  proposal.approvals.push(...people.sign(proposal.digest, people.stolen));
  say(`revoked devices approve ${proposal.words}`);
  const withHostile = (index: PartyIndex) =>
    group.parties.filter((party) => party === index || hostile.has(party)).slice(0, group.threshold);
  const bytes = bytesOf(proposal.intent, { ...proposal, fee: maxFee / 8n });
  if (bytes === null) return;
  await signBytes(world, { proposal, bytes, attempt: 1, purpose: 'intent' }, withHostile(oldest.index));
  const record = recordFor({ proposal, bytes, attempt: 1, purpose: 'intent' });
  if (record === null) return;
  await showRecord(world, proposal, record);
  const burning = bytesOf(actionOfAttempt(proposal.intent, 'cancellation'), { ...proposal, fee: maxFee });
  if (burning === null) return;
  const request = { proposal, bytes: burning, attempt: 2, purpose: 'cancellation' } as const;
  await signBytes(world, request, withHostile(newest.index));
}

/**
 * Shows honest co-signers a record with the attestations of hostile co-signers, and of honest ones
 * that have it.
 */
async function showRecord(world: World, proposal: Proposal, record: SignedRecord): Promise<void> {
  const { group, honest, hostile, say } = world;
  const statement = recordBytes(group.keyId, record);
  const attesters = new Map<PartyIndex, Uint8Array>();
  for (const [index, { own }] of hostile) attesters.set(index, await signAsCosigner(own, statement));
  for (const [index, cosigner] of honest) {
    const attested = await cosigner.cosignerKey.signedFor(group.keyId, record.transactionId);
    const own = attested.ok
      ? attested.value.find((row) => JSON.stringify(row.record) === JSON.stringify(record))
      : null;
    if (own != null) attesters.set(index, hexToBytes(own.signature));
  }
  const liar = [...hostile.values()][0];
  for (const [index, cosigner] of honest) {
    // A hostile co-signer signs in place of an honest one that does not attest this record.
    if (liar !== undefined && !attesters.has(index)) attesters.set(index, await signAsCosigner(liar.own, statement));
    const answer = await cosigner.cosignerKey.importRecord(group.keyId, { record, attesters: attesters });
    say(`shows co-signer ${index} a record of ${proposal.words}: ${answer.ok ? 'taken' : answer.refusal.code}`);
  }
}

async function passTime({ chance, say }: World): Promise<void> {
  const hours = chance.of([0, 1, 2, 5, 20, 50]);
  clock.nowMs += hours * HOUR_MS + MINUTE_MS;
  say(`${hours} hours pass`);
}

async function restartOne(world: World): Promise<void> {
  const index = world.chance.of([...world.honest.keys()]);
  world.say(`co-signer ${index} restarts`);
  restart(world, index);
}
