import type { CosignerAgreement, ShownPolicies } from '#devices/cosigner-agreement.ts';
import { dissentersIn, agreementsOf } from '#devices/cosigner-agreement.ts';
import type { StatementEntry } from '#devices/statement.ts';
import { verifyStatements } from '#devices/statement.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';

/**
 * The policy state of a co-signer by its signed statement, or `unknown`. A missing statement never
 * agrees.
 */
interface Verdict {
  readonly cosigner: number;
  readonly says: 'agrees' | 'behind' | 'disagrees' | 'unknown';
  /**
   * The reason why the state is unknown, or the policy that the co-signer has instead; null when it
   * agrees.
   */
  readonly detail: string | null;
}

/** The result of the co-signers' statements. */
export interface Confirmation {
  readonly verdicts: readonly Verdict[];
  /** The reason why the statements do not suffice for an approval; null when they suffice. */
  readonly fault: string | null;
  /**
   * Co-signers that do not agree. The person must confirm each of them before the page signs
   * (`dissentersIn`).
   */
  readonly exceptions: readonly Verdict[];
  /**
   * True when enough co-signers state exactly the policy that the server shows as the one in force.
   */
  readonly isInForce: boolean;
}

/**
 * The co-signer keys that a person has confirmed, and the number of co-signers that sign together.
 */
export interface Pins {
  readonly cosigners: readonly CosignerPin[];
  readonly threshold: number;
}

/** The policies that the page shows, and the challenge that the statements must answer. */
export interface Claim {
  readonly vaultId: number;
  /** The policies that the hash of the last one fixes. Statements from version `since` on agree. */
  readonly shown: Required<ShownPolicies>;
  readonly nonce: string;
  readonly nowMs: number;
}

/**
 * Compares the statements of the co-signers with confirmed keys, for each key of the list. Fewer
 * agreements than the signing threshold is a fault. A single co-signer that does not agree is an
 * exception that the person must confirm. An empty list confirms nothing.
 */
export function confirmedBy(
  entries: readonly StatementEntry[],
  keyIds: readonly string[],
  { pins, claim }: { readonly pins: Pins; readonly claim: Claim },
): Confirmation {
  const { vaultId, nonce, nowMs, shown } = claim;
  const last = shown.chain.at(-1);
  const since = shown.chain.find(({ version }) => version === shown.since);
  if (last === undefined || since === undefined) throw new RangeError('a claim does not name the policy in force');
  const verify = (keyId: string, policy: typeof last) =>
    verifyStatements({
      pins: pins.cosigners,
      request: { vaultId, keyId, signingThreshold: pins.threshold, nonce, policy },
      nowMs,
      entries,
    });
  const agreements = keyIds.map((keyId) => agreementsOf(verify(keyId, last), shown));
  const isEnough = agreements.length > 0 && agreements.every((ofKey) => dissentersIn(ofKey, pins.threshold).ok);
  const verdicts = pins.cosigners.map(({ index }) => together(agreements.flat(), index));
  const isStated = (keyId: string) =>
    verify(keyId, since).filter(({ verdict }) => verdict === 'agrees').length >= pins.threshold;
  return {
    verdicts,
    fault: isEnough ? null : 'Too few co-signers confirm the policy that the server shows.',
    exceptions: verdicts.filter(({ says }) => says !== 'agrees'),
    isInForce: isEnough && keyIds.every(isStated),
  };
}

const REASONS: Readonly<Record<string, string>> = {
  missing: 'The server sent no statement from this co-signer.',
  repeated: 'The server sent more than one statement from this co-signer.',
  malformed: 'The statement is malformed.',
  'other-cosigner': 'The statement is from another co-signer.',
  'bad-signature': 'The signature does not match the key that you confirmed.',
  'other-vault': 'The statement is about another vault.',
  'other-key': 'The statement is about another key.',
  'other-nonce': 'The statement does not answer this request.',
  'other-threshold': 'The statement names another number of co-signers that sign together.',
  'too-old': 'The statement was not made in the last five minutes.',
};

/** The verdicts, the most serious first. */
const GRAVITY = ['later-version', 'other-history', 'behind', 'unknown', 'agrees'] as const;

/** Returns the most serious verdict of one co-signer over all keys. */
function together(agreements: readonly CosignerAgreement[], cosigner: number): Verdict {
  const own = agreements.filter((one) => one.cosigner === cosigner);
  const worst = GRAVITY.flatMap((agreement) => own.filter((one) => one.agreement === agreement))[0];
  switch (worst?.agreement) {
    case undefined:
      return { cosigner, says: 'unknown', detail: null };
    case 'agrees':
      return { cosigner, says: 'agrees', detail: null };
    case 'unknown':
      return { cosigner, says: 'unknown', detail: REASONS[worst.detail] ?? null };
    case 'behind':
      return { cosigner, says: 'behind', detail: `Earlier policy: ${worst.detail}.` };
    case 'other-history':
      return { cosigner, says: 'disagrees', detail: `Different policy: ${worst.detail}.` };
    case 'later-version':
      return { cosigner, says: 'disagrees', detail: `Later policy: ${worst.detail}.` };
  }
}
