import type { StatementEntry, StatementVerdict } from '#devices/statement.ts';
import { statementRefusal, verifyStatements } from '#devices/statement.ts';
import type { CosignerPin } from '#domain/cosigner-pin.ts';

/** What a co-signer says of the policy, by its own signature, or `unknown`. A missing statement never agrees. */
interface Verdict {
  readonly cosigner: number;
  readonly says: 'agrees' | 'disagrees' | 'unknown';
  /** Why nothing is known, or what the co-signer has in force instead; null where it agrees. */
  readonly detail: string | null;
}

/** What the co-signers say, and why that is not enough; null where it is. */
export interface Confirmation {
  readonly verdicts: readonly Verdict[];
  readonly fault: string | null;
}

/** The keys of co-signers that a person has confirmed, and how many of them sign together. */
export interface Pins {
  readonly cosigners: readonly CosignerPin[];
  readonly threshold: number;
}

/** The policy that is claimed to be in force, and the question that the statements must answer. */
export interface Claim {
  readonly vaultId: number;
  readonly policyVersion: number;
  readonly policyHash: string;
  readonly nonce: string;
  readonly nowMs: number;
}

/**
 * Checks, for each key of a list, that co-signers with confirmed keys have the policy in force. One that
 * disagrees is enough to refuse: somebody shows two policies. No key at all confirms nothing.
 */
export function confirmedBy(
  entries: readonly StatementEntry[],
  keyIds: readonly string[],
  { pins, claim }: { readonly pins: Pins; readonly claim: Claim },
): Confirmation {
  const { vaultId, nonce, nowMs } = claim;
  const policy = { version: claim.policyVersion, hash: claim.policyHash };
  const verdicts = keyIds.map((keyId) =>
    verifyStatements({ pins: pins.cosigners, asked: { vaultId, keyId, nonce, policy }, nowMs, entries }),
  );
  const refusals = verdicts.map((ofKey) => statementRefusal(ofKey, pins.threshold));
  const worst = refusals.find((refusal) => refusal === 'cosigner-disagrees') ?? refusals.find((one) => one !== null);
  return {
    verdicts: pins.cosigners.map(({ index }) => together(verdicts.flat().filter(({ cosigner }) => cosigner === index))),
    fault: keyIds.length === 0 ? REFUSALS['too-few-agree'] : worst == null ? null : REFUSALS[worst],
  };
}

const REFUSALS = {
  'cosigner-disagrees': 'A co-signer has another policy in force than the one that the server shows.',
  'too-few-agree': 'Too few co-signers confirm the policy that the server shows.',
} as const;

const REASONS = {
  missing: 'the server sent no statement of it',
  repeated: 'the server sent several statements of it',
  malformed: 'the statement is malformed',
  'other-cosigner': 'the statement is of another co-signer',
  'bad-signature': 'the signature is not of the key that you confirmed',
  'other-vault': 'the statement is about another vault',
  'other-key': 'the statement is about another key',
  'other-nonce': 'the statement answers another question',
  'too-old': 'the statement is not of the last five minutes',
} as const;

/** What one co-signer says for all keys: the first that is not an agreement, a disagreement before all. */
function together(verdicts: readonly StatementVerdict[]): Verdict {
  const worst =
    verdicts.find(({ verdict }) => verdict === 'disagrees') ??
    verdicts.find(({ verdict }) => verdict === 'unknown') ??
    verdicts[0];
  const cosigner = worst?.cosigner ?? 0;
  if (worst === undefined) return { cosigner, says: 'unknown', detail: null };
  if (worst.verdict === 'agrees') return { cosigner, says: 'agrees', detail: null };
  if (worst.verdict === 'unknown') return { cosigner, says: 'unknown', detail: REASONS[worst.reason] };
  return { cosigner, says: 'disagrees', detail: `it has another policy in force: version ${worst.policyVersion}` };
}
