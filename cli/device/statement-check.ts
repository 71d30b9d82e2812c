import { bytesToHex } from '@noble/hashes/utils.js';
import type { PolicyLink } from '#devices/policy-links.ts';
import { pinsUnder } from '#devices/policy-links.ts';
import type { CosignerAgreement, Agreement } from '#devices/cosigner-agreement.ts';
import { dissentersIn, agreementsOf } from '#devices/cosigner-agreement.ts';
import type { StatementEntry, StatementVerdict } from '#devices/statement.ts';
import { verifyStatements } from '#devices/statement.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { KEY_FAULTS, keyFault } from '#review/statement-keys.ts';
import type { Client } from '../api-client.ts';
import type { PinnedVault } from './pin-file.ts';
import { fetchPolicyChain } from './fetch-policies.ts';

/** The response of the service about the co-signers. */
interface DeliveredStatements {
  readonly keys: readonly { readonly keyId: string; readonly scheme: KeyScheme; readonly publicKey: string }[];
  readonly statements: readonly StatementEntry[] | null;
}

/** The input of a check of the statements. */
export interface StatementQuery {
  readonly vaultId: number;
  readonly nonce: string;
  readonly delivered: DeliveredStatements;
  /** The policy version of the intent; the version in force when absent. */
  readonly policyVersion?: number;
  /** The wallet of the intent, which has one key; all keys of the vault when absent. */
  readonly wallet?: { readonly chain: string; readonly address: string };
  /** The policy of a policy change. */
  readonly proposed?: { readonly version: number; readonly hash: string };
}

/**
 * Policies that at least t co-signers vouch for, the newest last, and the pins that the device
 * stores from now on.
 */
export interface ProvenPolicies {
  /** The newest of the links. */
  readonly head: PolicyLink;
  readonly links: readonly PolicyLink[];
  readonly pinned: PinnedVault;
  /**
   * Co-signers that do not agree. The device signs only after the signer has named each of them.
   */
  readonly exceptions: readonly CosignerAgreement[];
  /** The proposed policy is already one of these: the change renews its mandate. */
  readonly isRenewal: boolean;
}

/** Returns an unpredictable nonce, so that an older statement cannot be replayed. */
export function newNonce(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * Returns the policies of a vault as the co-signers have them in force. Prints the statement of
 * each co-signer.
 *
 * The service delivers all data. The data is accepted when it follows from the pinned keys: at
 * least t co-signers state the hash of the newest policy, and that hash fixes all policies before
 * it. Throws otherwise, and nothing is signed.
 *
 * The quorum of version k - 1 decides on a renewal of version k, and co-signers may have either in
 * force, or a later one. So statements of version k - 1 and of every later policy of the chain
 * agree. With t of them version k - 1 is proven as for any change of it. The device stores the
 * newest policy only when t co-signers state that one.
 */
export async function provePolicies(
  client: Client,
  pinned: PinnedVault,
  query: StatementQuery,
): Promise<ProvenPolicies> {
  const { vaultId, policyVersion = pinned.policy.version, proposed } = query;
  const decidedUnder = proposed === undefined ? policyVersion : Math.max(1, proposed.version - 1);
  const oldest = Math.min(pinned.policy.version, policyVersion, decidedUnder);
  const links = await fetchPolicyChain(client, vaultId, oldest);
  const head = links.at(-1);
  const pins = await pinsUnder({ pins: pinned.cosigners, policy: pinned.policy }, links);
  if (head === undefined || !pins.ok) throw new Unproven(PIN_FAULTS[pins.ok ? 'older-policy' : pins.refusal]);
  const { threshold } = pinned;
  // No successor changes the number, so a policy that names another one was never adopted.
  if (head.policy.signingThreshold !== threshold) throw new Unproven(otherThreshold(head.policy, threshold));
  const isRenewal = links.some(({ policy, hash }) => policy.version === proposed?.version && hash === proposed.hash);
  const policy = { version: head.policy.version, hash: head.hash };
  const answered = keysOf(query);
  // The statements are about keys, and a key that the service omits could be any other one.
  const keyIds = query.wallet === undefined ? [...new Set([...pinned.keyIds, ...answered])] : answered;
  if (keyIds.length === 0) throw new Unproven('The vault has no key yet, so no co-signer can state a policy.');
  const since = isRenewal ? decidedUnder : policy.version;
  const judged = { client, links, pins: pins.value, threshold, query, since };
  const exceptions: CosignerAgreement[] = [];
  let isHeadProven = true;
  for (const keyId of keyIds) {
    const agreements = await agreementsFor(keyId, judged);
    exceptions.push(...agreements.exceptions);
    isHeadProven &&= agreements.isHeadProven;
  }
  const known = [...new Set([...pinned.keyIds, ...keyIds])];
  const newest = { cosigners: [...pins.value], threshold, policy, keyIds: known };
  return { head, links, pinned: isHeadProven ? newest : pinned, exceptions, isRenewal };
}

interface Judged {
  readonly client: Client;
  readonly links: readonly PolicyLink[];
  readonly pins: readonly CosignerPin[];
  readonly threshold: number;
  readonly query: StatementQuery;
  /** The lowest version that agrees. */
  readonly since: number;
}

/** Returns the agreements of the co-signers for one key. Throws `Unproven` when too few agree. */
async function agreementsFor(keyId: string, judged: Judged) {
  const { pins, threshold, query, since } = judged;
  const { vaultId, nonce, delivered } = query;
  const head = versionOf(judged.links.at(-1));
  const request = { vaultId, keyId, signingThreshold: threshold, nonce, policy: head };
  const entries = delivered.statements ?? [];
  const verdicts = verifyStatements({ pins, request, nowMs: Date.now(), entries });
  const agreements = agreementsOf(verdicts, { chain: await chainFor(verdicts, judged), since });
  print(keyId, agreements);
  const exceptions = dissentersIn(agreements, threshold);
  if (!exceptions.ok) throw new Unproven(tooFew(agreements, { threshold, version: head.version }));
  const isHeadProven = verdicts.filter(({ verdict }) => verdict === 'agrees').length >= threshold;
  return { exceptions: exceptions.value, isHeadProven };
}

/**
 * Returns the chain from the oldest policy on that a co-signer states. It ends with the same
 * policy, which fixes all of it.
 */
async function chainFor(verdicts: readonly StatementVerdict[], { client, links, query: { vaultId } }: Judged) {
  const head = versionOf(links.at(-1));
  const oldest = links[0]?.policy.version ?? 1;
  const stated = verdicts.map((one) => (one.verdict === 'disagrees' ? Math.max(1, one.policyVersion) : oldest));
  const requested = Math.min(...stated);
  if (requested >= oldest) return links.map(versionOf);
  const longer = (await fetchPolicyChain(client, vaultId, requested)).map(versionOf);
  const end = longer.findIndex(({ version, hash }) => version === head.version && hash === head.hash);
  return end < 0 ? links.map(versionOf) : longer.slice(0, end + 1);
}

function versionOf(link: PolicyLink | undefined): { readonly version: number; readonly hash: string } {
  if (link === undefined) throw new Unproven(PIN_FAULTS['older-policy']);
  return { version: link.policy.version, hash: link.hash };
}

function tooFew(
  agreements: readonly CosignerAgreement[],
  { threshold, version }: { readonly threshold: number; readonly version: number },
): string {
  const isLater = agreements.some(({ agreement }) => agreement === 'later-version');
  return [
    `Fewer than ${threshold} co-signers state that version ${version} is in force.`,
    ...(isLater ? ['The service may show an old policy. Ask the other signers whether the policy was changed.'] : []),
  ].join(' ');
}

function otherThreshold({ signingThreshold }: Policy, confirmed: number): string {
  return `The policy says that ${signingThreshold} co-signers sign together. You confirmed that it is ${confirmed}.`;
}

/** The statements do not prove the data of the service. */
class Unproven extends Error {
  constructor(why: string) {
    super(`Not signed. ${why}`);
  }
}

const PIN_FAULTS = {
  'older-policy': 'The service shows an older policy than this device has verified.',
  'other-history': 'The service shows other policies than this device has verified.',
  'unproven-pins':
    'The policy names other co-signers, and no quorum has signed this with its devices. ' +
    'Pin them again with their fingerprint.',
} as const;

/** Returns the ids of the keys that the service names, after the check of `keyFault`. */
function keysOf({ delivered: { keys }, wallet }: StatementQuery): readonly string[] {
  const fault = keyFault(keys, wallet ?? null);
  if (fault !== null) throw new Unproven(KEY_FAULTS[fault]);
  return keys.map(({ keyId }) => keyId);
}

/** Prints to standard error, since the result is on standard output. */
function print(keyId: string, agreements: readonly CosignerAgreement[]): void {
  console.error(`Key ${keyId}`);
  for (const { cosigner, agreement, detail } of agreements) {
    console.error(
      `  Co-signer ${cosigner}: ${SHOWN[agreement]}${agreement === 'unknown' ? ` (${detail})` : `, ${detail}`}`,
    );
  }
}

const SHOWN: Readonly<Record<Agreement, string>> = {
  agrees: 'agrees',
  behind: 'BEHIND',
  'other-history': 'DISAGREES (a policy that is not in the history of this one)',
  'later-version': 'DISAGREES (a later policy than this one)',
  unknown: 'unknown',
};
