import { intentBytes } from '#domain/transaction/intent.ts';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { inspectPayload } from '#chains/inspect/payload.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { recordOf } from '#cosigner/tables/signed-table.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import { recordBytes } from '#cosigner/policy/signed-record.ts';
import { signingRequestOf } from '#cosigner/session/signing-request.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { encodeApproval } from '#cosigner-client/bring-policies.ts';
import { signAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { Begun, Proposal } from './coordinator.ts';
import type { HonestCosigner } from './cosigner.ts';
import type { Bytes } from './networks.ts';
import type { World } from './world.ts';

/** A signature that a coordinator tries to obtain, and the way in which it gets the receipts. */
export interface Plan {
  readonly proposal: Proposal;
  readonly bytes: Bytes;
  readonly attempt: number;
  readonly purpose: AttemptPurpose;
  readonly signers: readonly PartyIndex[];
  /**
   * `forged`: in place of a missing receipt of an honest co-signer, the coordinator presents an
   * older one or one of a hostile co-signer. `invented`: honest co-signers get no request, so they
   * record no row.
   */
  readonly receipts: 'asked' | 'forged' | 'invented' | 'none';
  /** The policy version in every request; null to send each co-signer its own version in force. */
  readonly policyVersion: number | null;
}

type BegunRequest = Begun['request'];

function requestFor(cosigner: HonestCosigner, plan: Plan): BegunRequest {
  const { proposal, bytes, attempt, purpose } = plan;
  const policyVersion = plan.policyVersion ?? cosigner.vault.version();
  const { intent } = proposal;
  return { intent, ...bytes, attempt, purpose, approvals: proposal.approvals, policyVersion };
}

/** Returns the request as a co-signer decodes it from JSON. */
function received(request: SigningRequest): SigningRequest {
  const intent = bytesToHex(intentBytes(request.intent));
  const sent = { ...request, intent, approvals: request.approvals.map(encodeApproval) };
  return signingRequestOf(JSON.parse(JSON.stringify(sent)));
}

/**
 * Opens and starts a session with every honest signer. Returns null, or what is missing, when one
 * of them does not take part.
 */
export async function begin(world: World, plan: Plan): Promise<Begun | 'receipt-missing' | null> {
  const { group, honest, say, oracle, coordinator } = world;
  const names = plan.signers.map((one) => (honest.has(one) ? String(one) : `${one} (hostile)`)).join(', ');
  say(`asks ${names} for attempt ${plan.attempt} (${plan.purpose}) of: ${plan.proposal.words}`);
  const opened = new Map<PartyIndex, { readonly preparation: SessionPlan; readonly request: BegunRequest }>();
  for (const index of plan.signers) {
    const cosigner = honest.get(index);
    if (cosigner === undefined) continue;
    const request = requestFor(cosigner, plan);
    const prepared = await cosigner.cosignerKey.prepareSignature(group.keyId, plan.signers, received(request));
    if (!prepared.ok) return refusedBy(world, index, `${prepared.refusal.code} ${prepared.refusal.detail ?? ''}`);
    opened.set(index, { preparation: prepared.value, request });
  }
  const contexts = new Set([...opened.values()].map(({ preparation }) => bytesToHex(preparation.context)));
  const receipts = plan.receipts === 'none' ? new Map<PartyIndex, Uint8Array>() : await receiptsFor(world, plan);
  const waiting: Begun['waiting'] = new Map();
  let request: BegunRequest | null = null;
  for (const [index, one] of opened) {
    const fault = (await one.preparation.admit?.(receipts)) ?? null;
    if (fault !== null) {
      refusedBy(world, index, `${fault.code} ${fault.culprit ?? ''}`);
      return fault.code === 'receipt-missing' ? fault.code : null;
    }
    try {
      waiting.set(index, one.preparation.begin(world.chance.bytes(32)));
    } catch {
      return refusedBy(world, index, 'its row is taken');
    }
    oracle.committed(index, one.request);
    ({ request } = one);
  }
  // A session that was opened ahead has committed by now. Its id covers the context, so co-signers
  // with different contexts accept no message of each other.
  if (contexts.size !== 1) return refusedBy(world, null, 'the co-signers are in different sessions');
  if (request === null) return null;
  const begun: Begun = {
    proposal: plan.proposal,
    request,
    signers: plan.signers,
    waiting,
    given: new Map(),
    result: null,
  };
  coordinator.sessions.push(begun);
  return begun;
}

function refusedBy({ say }: World, index: PartyIndex | null, why: string): null {
  say(`  ${index === null ? '' : `co-signer ${index} refuses: `}${why.trim()}`);
  return null;
}

/**
 * Returns receipts of all co-signers that do not sign: of honest ones when they give them, of
 * hostile ones always.
 */
export async function receiptsFor(world: World, plan: Plan): Promise<ReadonlyMap<PartyIndex, Uint8Array>> {
  const { group, honest, hostile, oracle, coordinator, chance } = world;
  const receipts = new Map<PartyIndex, Uint8Array>();
  for (const index of group.parties) {
    if (plan.signers.includes(index)) continue;
    const cosigner = honest.get(index);
    if (cosigner === undefined) {
      const forged = await forgedReceipt(world, plan, index);
      if (forged !== null) receipts.set(index, forged);
      continue;
    }
    const request = requestFor(cosigner, plan);
    const isAsked = plan.receipts !== 'invented';
    const answer = isAsked ? await cosigner.cosignerKey.receipt(group.keyId, received(request)) : null;
    if (answer?.ok === true) {
      oracle.committed(index, request);
      const receipt = hexToBytes(answer.value.receipt);
      coordinator.receipts.push({ by: index, payload: plan.bytes.payload, receipt });
      receipts.set(index, receipt);
    } else if (plan.receipts !== 'asked') {
      const known = coordinator.receipts.filter(({ by }) => by === index);
      const older = known.find(({ payload }) => payload === plan.bytes.payload) ?? known.at(-1);
      const liar = [...hostile.keys()][0];
      if (older !== undefined && chance.percent(70)) receipts.set(index, older.receipt);
      else if (liar !== undefined) receipts.set(index, (await forgedReceipt(world, plan, liar)) ?? new Uint8Array(64));
    }
  }
  return receipts;
}

/**
 * Returns a hostile co-signer's signature over the row of these bytes, which it has never checked.
 */
async function forgedReceipt({ group, hostile }: World, plan: Plan, index: PartyIndex): Promise<Uint8Array | null> {
  const membership = hostile.get(index);
  const record = recordFor(plan);
  if (membership === undefined || record === null) return null;
  return signAsCosigner(membership.own, recordBytes(group.keyId, record));
}

/**
 * Returns the row that honest co-signers would write for these bytes; null for bytes that do not
 * match their intent.
 */
export function recordFor({
  proposal,
  bytes,
  attempt,
  purpose,
}: Pick<Plan, 'proposal' | 'bytes' | 'attempt' | 'purpose'>) {
  const inspected = inspectPayload(actionOfAttempt(proposal.intent, purpose), bytes.payload);
  if (!inspected.ok || inspected.value.kind === 'message') return null;
  const { signedMessages, signingDigest, bid } = inspected.value;
  const checked = { purpose, intentDigest: proposal.digest, signedMessages, signingDigest, bid };
  return recordOf(proposal.intent.transactionId, attempt, checked);
}

/**
 * Gets the last message of some of the honest signers. When all have sent theirs, a signature
 * exists.
 */
export async function finish(world: World, begun: Begun, from: readonly PartyIndex[]): Promise<void> {
  const { oracle, say } = world;
  for (const index of from) {
    const round = begun.waiting.get(index);
    if (round === undefined) continue;
    begun.waiting.delete(index);
    const { step } = await round.run(new Map());
    if (step.type !== 'result') {
      say(`  co-signer ${index} ends the session: ${step.type === 'abort' ? step.abort.step : ''}`);
      abandon(world, begun);
      return;
    }
    begun.result = step.result;
    begun.given.set(index, oracle.inForceAt(index));
  }
  if (begun.waiting.size > 0 || begun.result === null) return;
  abandon(world, begun);
  begun.proposal.attempts += 1;
  say(`  signed: ${begun.request.purpose} of ${begun.proposal.words}`);
  const { publicKey, messages } = begun.result as { publicKey: string; messages: readonly string[] };
  oracle.signed({ request: begun.request, honest: begun.given, publicKey, messages });
  for (const fault of oracle.faults) say(`  FAULT: ${fault}`);
}

/** Removes a session from the coordinator's list. */
export function abandon({ coordinator }: World, begun: Begun): void {
  const at = coordinator.sessions.indexOf(begun);
  if (at >= 0) coordinator.sessions.splice(at, 1);
}

/** Restarts a co-signer, which ends every session in its memory. */
export function restart(world: World, index: PartyIndex): void {
  world.honest.get(index)?.restart();
  const lost = world.coordinator.sessions.filter(({ waiting }) => waiting.has(index));
  for (const begun of lost) abandon(world, begun);
}
