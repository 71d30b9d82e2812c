import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { ChainSignature } from '#chains/chain-rules.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { actionOfAttempt, intentBytes } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { Approval } from '#domain/access/approval.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient, CosignerFault, GroupFault } from '#cosigner-client/client.ts';
import { faultText, isUnanswered } from '#cosigner-client/client.ts';
import { pairStatesOf } from '#cosigner-client/pair-states.ts';
import type { SigningKey } from '#jobs/signing/combine.ts';
import { refused } from '#domain/result.ts';
import { combineSignatures, publicSharesFrom } from '#jobs/signing/combine.ts';
import type { SignedBytes } from '#jobs/signing/propagate-signed-record.ts';
import { propagateSignedRecord } from '#jobs/signing/propagate-signed-record.ts';
import { signerGroups } from '#cosigner-client/signer-groups.ts';
import type { OpenedSessions } from '#jobs/signing/relay.ts';
import { openAhead, relay } from '#jobs/signing/relay.ts';
import { receiptsOf } from '#jobs/signing/receipts.ts';
import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import { bringPolicies, encodeApproval } from '#cosigner-client/bring-policies.ts';
import { walletOf } from '#mpc/derivation/derivation.ts';
import { needsReceipts } from '#domain/policy/policy.ts';

/** What co-signers sign: the bytes, and the hash that they compute themselves. */
export type Signable = Pick<Attempt, 'number' | 'purpose' | 'payload' | 'signingDigest'>;

export interface ThresholdSignRequest {
  readonly key: VaultKey;
  readonly intent: Intent;
  readonly attempt: Signable;
  readonly approvals: readonly Approval[];
  /** The policies of the vault, so that a co-signer that missed some catches up. */
  readonly policies: PolicySource;
  /** What the co-signers require to verify the bytes. */
  readonly evidence: readonly string[];
  /**
   * Returns the signed earlier attempts of the transaction, from which a co-signer takes records
   * that it lacks; none when absent.
   */
  readonly earlier?: () => readonly SignedBytes[];
  /** See `Run.mayStart`. */
  readonly mayStart?: () => Promise<boolean>;
  /** What `openSessionsAhead` returned for this signature. */
  readonly ahead?: OpenedSessions | null;
}

export type SigningOutcome =
  | { readonly ok: true; readonly signatures: readonly ChainSignature[] }
  /**
   * `unavailable` may succeed later; `refused` is a co-signer's judgement on the request itself.
   */
  | { readonly ok: false; readonly verdict: 'unavailable' | 'refused'; readonly reason: string };

/** Refusals of the request itself: other co-signers will refuse it, too. */
const JUDGEMENTS: ReadonlySet<string> = new Set([
  'wrong-wallet',
  'policy-mismatch',
  'not-enough-approvals',
  'policy-forbids',
  'expired',
  'fee-above-ceiling',
  'payload-refused',
  'second-digest',
]);

/**
 * Returns the signatures that bytes need (on Bitcoin one for each UTXO, else a single one), by any
 * available group of co-signers. A group with a co-signer that is unreachable, banned, lies or
 * refuses the request is skipped for the next one, and the log names the co-signer: a single liar
 * cannot prevent a signature. The request is refused when so many refuse it that no group is left.
 * Each signature is verified.
 */
export async function thresholdSign(
  cosigners: readonly CosignerClient[],
  request: ThresholdSignRequest,
): Promise<SigningOutcome> {
  const { key, policies } = request;
  const { signingThreshold } = policies.policy;
  const holders = holdersOf(cosigners, key);
  const [unreachable, judges] = [new Set<number>(), new Set<number>()];
  let why: GroupFault | null = null;
  for (const signers of signerGroups(holders, signingThreshold)) {
    if (signers.some(({ index }) => unreachable.has(index) || judges.has(index))) continue;
    const outcome = await signWith(signers, holders, request);
    if (!('fault' in outcome)) {
      for (const { index } of signers) UNREACHABLE_SINCE_MS.delete(index);
      return outcome;
    }
    const { fault } = outcome;
    if (fault.code === 'superseded') return { ok: false, verdict: 'unavailable', reason: fault.code };
    console.error(JSON.stringify({ event: 'cosigner-fault', keyId: key.keyId, ...fault }));
    const { cosigner, code } = fault;
    rememberUnreachable(fault);
    // It had the policies offered in this call. A liar must not use up the calls of the others.
    if (cosigner !== null && (isUnanswered(fault) || code === 'policy-behind')) unreachable.add(cosigner);
    if (cosigner !== null && JUDGEMENTS.has(code)) judges.add(cosigner);
    if (why === null || !JUDGEMENTS.has(why.code)) why = fault;
  }
  if (why === null) return { ok: false, verdict: 'unavailable', reason: 'no group of co-signers is there' };
  const isRefused = judges.size > holders.length - signingThreshold;
  return { ok: false, verdict: isRefused ? 'refused' : 'unavailable', reason: faultText(why) };
}

/**
 * Opens sessions on the group of co-signers that `thresholdSign` will use first, while the caller
 * prepares the bytes. Returns null when a co-signer does not open one, and for other schemes than
 * ECDSA: their opening has signing nonces, which are drawn for known bytes only.
 */
export async function openSessionsAhead(
  cosigners: readonly CosignerClient[],
  { key, policies }: Pick<ThresholdSignRequest, 'key'> & { readonly policies: Pick<PolicySource, 'policy'> },
): Promise<OpenedSessions | null> {
  if (key.scheme !== 'ecdsa-secp256k1') return null;
  const [signers] = signerGroups(holdersOf(cosigners, key), policies.policy.signingThreshold);
  if (signers === undefined) return null;
  const opened = await openAhead({ cosigners: signers, path: () => `key/${key.keyId}` });
  if (opened.ok) return opened.value;
  rememberUnreachable(opened.refusal);
  return null;
}

/**
 * When co-signers were last unreachable in this isolate, so that not every payment waits for them.
 * A co-signer that has signed since is removed.
 */
const UNREACHABLE_SINCE_MS = new Map<number, number>();
const UNREACHABLE_FOR_MS = 60_000;

function rememberUnreachable(fault: GroupFault): void {
  const { cosigner } = fault;
  if (cosigner !== null && isUnanswered(fault)) UNREACHABLE_SINCE_MS.set(cosigner, Date.now());
}

/** Returns the co-signers that have a share of the key, recently unreachable ones last. */
function holdersOf(cosigners: readonly CosignerClient[], key: VaultKey): readonly CosignerClient[] {
  const there = availableHolders(cosigners, key);
  return [...there, ...cosigners.filter((cosigner) => !there.includes(cosigner) && holds(cosigner, key))];
}

/** Returns the co-signers with a share, without recently unreachable ones. */
export function availableHolders(cosigners: readonly CosignerClient[], key: VaultKey): readonly CosignerClient[] {
  const isUnreachable = ({ index }: CosignerClient) =>
    Date.now() - (UNREACHABLE_SINCE_MS.get(index) ?? 0) < UNREACHABLE_FOR_MS;
  return cosigners.filter((cosigner) => holds(cosigner, key) && !isUnreachable(cosigner));
}

function holds({ index }: CosignerClient, { publicShares }: VaultKey): boolean {
  return String(index) in publicShares;
}

async function signWith(
  signers: readonly CosignerClient[],
  holders: readonly CosignerClient[],
  request: ThresholdSignRequest,
): Promise<SigningOutcome | { readonly fault: GroupFault }> {
  const run = await runWith(signers, holders, request);
  if (!run.ok) return { fault: run.refusal };
  const combined = await combineSignatures(signingKey(request), messagesOf(request), run.value);
  return combined.ok ? { ok: true, signatures: combined.value } : { fault: combined.refusal };
}

/**
 * Returns what the co-signers have signed. Throws for bytes that are not their intent, because
 * every co-signer refuses those.
 */
function messagesOf({ intent, attempt: { purpose, payload } }: ThresholdSignRequest): readonly Uint8Array[] {
  const inspected = inspectPayload(intent.kind === 'message' ? intent : actionOfAttempt(intent, purpose), payload);
  if (!inspected.ok) throw new Error(`signed bytes that do not fit their intent: ${inspected.refusal}`);
  return inspected.value.signedMessages;
}

/**
 * Caches the public keys of the wallets that signed last, because deriving a wallet's key from its
 * vault's key takes longer than a signature. The cache contains no secret.
 */
const WALLETS = new Map<string, SigningKey>();
const MAX_WALLETS = 500;

/** Returns the vault's key on the chain of the intent. */
function signingKey({ key, policies, intent }: ThresholdSignRequest): SigningKey {
  const threshold = policies.policy.signingThreshold;
  // The public shares change with each refresh, the key does not.
  const name = `${threshold} ${key.publicKey} ${Object.values(key.publicShares).join()} ${intent.chain}`;
  const known = WALLETS.get(name);
  if (known !== undefined) return known;
  const { scheme } = key;
  const [publicKey, publicShares] = [hexToBytes(key.publicKey), publicSharesFrom(key.publicShares)];
  const wallet = { threshold, ...walletOf({ scheme, publicKey, publicShares }, intent.chain) };
  if (WALLETS.size >= MAX_WALLETS) WALLETS.clear();
  WALLETS.set(name, wallet);
  return wallet;
}

/**
 * Calls all co-signers at once, and returns the fault of the first that does not answer; null when
 * each of them does.
 */
async function unreachableOf(cosigners: readonly CosignerClient[]): Promise<CosignerFault | null> {
  const answers = await Promise.all(cosigners.map(pairStatesOf));
  const fault = answers.find((answer) => !answer.ok && isUnanswered(answer.refusal));
  return fault === undefined || fault.ok ? null : fault.refusal;
}

/**
 * Runs the protocol, and once more after a co-signer that was behind has received the newer
 * policies, or the records of earlier attempts.
 */
async function runWith(
  signers: readonly CosignerClient[],
  holders: readonly CosignerClient[],
  request: ThresholdSignRequest,
) {
  const { key, intent, attempt, approvals, policies, evidence } = request;
  const indices = signers.map((cosigner) => cosigner.index).toSorted((a, b) => a - b);
  const body = {
    signers: indices,
    request: {
      intent: bytesToHex(intentBytes(intent)),
      payload: attempt.payload,
      attempt: attempt.number,
      purpose: attempt.purpose,
      approvals: approvals.map(encodeApproval),
      policyVersion: policies.policy.version,
      evidence,
    },
  };
  const { keyId } = key;
  const others = holders.filter((cosigner) => !signers.includes(cosigner));
  const isReceiptNeeded = needsReceipts(policies.policy);
  const receipts = isReceiptNeeded ? { receipts: () => receiptsOf(others, keyId, body.request) } : {};
  const findUnreachable = isReceiptNeeded ? { findUnreachable: () => unreachableOf(others) } : {};
  const begins = request.mayStart === undefined ? {} : { mayStart: request.mayStart, ...findUnreachable };
  const common = { cosigners: signers, path: () => `key/${keyId}`, request: () => body, ...receipts, ...begins };
  const run = () => relay(common);
  const ahead = request.ahead ?? new Map();
  const isOpen = ahead.size === indices.length && indices.every((index) => ahead.has(index));
  const begun = await (isOpen ? relay({ ...common, ahead }) : run());
  // A co-signer that was restarted has lost the session that it opened ahead.
  const first = isOpen && !begun.ok && begun.refusal.code === 'unknown-session' ? await run() : begun;
  if (!first.ok && lacksRecord(first.refusal, attempt)) {
    const { transactionId } = intent;
    const threshold = policies.policy.signingThreshold;
    await propagateSignedRecord(holders, { keyId, transactionId, threshold, signed: request.earlier ?? (() => []) });
    return run();
  }
  if (first.ok || first.refusal.code !== 'policy-behind') return first;
  const delivery = { targets: isReceiptNeeded ? holders : signers, attesters: holders };
  const { faults } = await bringPolicies(policies, delivery);
  const fault = faults.find(({ cosigner }) => indices.includes(cosigner));
  return fault === undefined ? run() : refused(fault);
}

/**
 * Reports whether a co-signer may have refused because it has no record of an earlier signature:
 * it took no part in it, or it lost its records.
 */
function lacksRecord({ code }: CosignerFault, { number }: Signable): boolean {
  return code === 'before-its-time' || (code === 'second-digest' && number > 1);
}
