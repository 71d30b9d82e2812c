import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { SignedStatement, StatementFault } from '#domain/policy/statement.ts';
import { statementBytes, statementFault } from '#domain/policy/statement.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** The coordinator's delivery for one co-signer and one key. All of it is untrusted. */
export interface StatementEntry {
  readonly cosigner: number;
  readonly keyId: string;
  /** Null when the coordinator reports that the co-signer gave none. */
  readonly statement: unknown;
}

/** The verifier's request, and the policy that it expects to be in force. */
export interface StatementRequest {
  readonly vaultId: number;
  readonly keyId: string;
  /** The number of co-signers that sign together, as the person confirmed it. */
  readonly signingThreshold: number;
  /** Lower-case hex of 32 bytes, drawn by the verifier for this request alone. */
  readonly nonce: string;
  readonly policy: { readonly version: number; readonly hash: string };
}

/** Why the policy that a co-signer has in force is unknown. */
type UnknownReason =
  | 'missing'
  /** The coordinator delivered more than one entry for this co-signer. */
  | 'repeated'
  | 'malformed'
  /** The statement names another co-signer than the entry does. */
  | 'other-cosigner'
  | 'bad-signature'
  | StatementFault;

/** The proven result for one pinned co-signer. */
export type StatementVerdict =
  | { readonly verdict: 'agrees'; readonly cosigner: number }
  | { readonly verdict: 'unknown'; readonly cosigner: number; readonly reason: UnknownReason }
  | {
      readonly verdict: 'disagrees';
      readonly cosigner: number;
      /** The policy in the co-signer's statement. */
      readonly policyVersion: number;
      readonly policyHash: string;
    };

/**
 * Returns the proven result for each pinned co-signer, in the order of the pins. The entries come
 * through the coordinator, which can omit, repeat, swap and forge them. Only a fresh statement with
 * a valid signature of the pinned key counts, and everything else is `unknown`.
 *
 * It runs in browsers, too, so the signature is verified by a library that all of them run.
 */
export function verifyStatements({
  pins,
  request,
  nowMs,
  entries,
}: {
  readonly pins: readonly CosignerPin[];
  readonly request: StatementRequest;
  readonly nowMs: number;
  readonly entries: readonly StatementEntry[];
}): readonly StatementVerdict[] {
  return pins.map((pin) => {
    const ofCosigner = entries.filter(({ cosigner, keyId }) => cosigner === pin.index && keyId === request.keyId);
    return verdictOn(pin, ofCosigner, { ...request, nowMs });
  });
}

function verdictOn(
  pin: CosignerPin,
  entries: readonly StatementEntry[],
  request: StatementRequest & { readonly nowMs: number },
): StatementVerdict {
  const cosigner = pin.index;
  const unknown = (reason: UnknownReason) => ({ verdict: 'unknown', cosigner, reason }) as const;
  if (entries.length > 1) return unknown('repeated');
  const delivered = entries[0]?.statement ?? null;
  if (delivered === null) return unknown('missing');
  if (!isSignedStatement(delivered)) return unknown('malformed');
  if (delivered.cosigner !== cosigner) return unknown('other-cosigner');
  if (!isSignedBy(pin, delivered)) return unknown('bad-signature');
  const fault = statementFault(delivered, request);
  if (fault !== null) return unknown(fault);
  const { policyVersion, policyHash } = delivered;
  const agrees = policyVersion === request.policy.version && policyHash === request.policy.hash;
  return agrees ? { verdict: 'agrees', cosigner } : { verdict: 'disagrees', cosigner, policyVersion, policyHash };
}

function isSignedBy(pin: CosignerPin, statement: SignedStatement): boolean {
  try {
    // RFC 8032 with its strict bounds: ZIP 215 would accept signatures that other co-signers
    // refuse.
    const options = { zip215: false };
    return ed25519.verify(hexToBytes(statement.signature), statementBytes(statement), hexToBytes(pin.signing), options);
  } catch {
    return false;
  }
}

const WHOLE_NUMBERS = ['cosigner', 'vaultId', 'policyVersion', 'signingThreshold', 'epoch', 'issuedAtMs'] as const;
const HEX_BYTES = { policyHash: 32, nonce: 32, signature: 64 } as const;

/** Reports whether an untrusted value has the fields of a statement, each in its one spelling. */
function isSignedStatement(value: unknown): value is SignedStatement {
  if (!isJsonObject(value)) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const hasNumbers = WHOLE_NUMBERS.every((name) => Number.isSafeInteger(fields.get(name)));
  const hasHex = Object.entries(HEX_BYTES).every(([name, bytes]) => isHexOf(fields.get(name), bytes));
  const keyId = fields.get('keyId');
  return hasNumbers && hasHex && typeof keyId === 'string' && keyId.length <= 64;
}

function isHexOf(value: unknown, bytes: number): boolean {
  return typeof value === 'string' && value.length === bytes * 2 && /^[0-9a-f]*$/.test(value);
}
