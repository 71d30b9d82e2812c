import { bytesToHex } from '@noble/hashes/utils.js';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { VaultView } from '#cosigner/policy/vault-policies.ts';
import type { PolicyName } from '#devices/policy-succession.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { fieldsOf, hexOf } from '#cosigner/request-parser.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import { statementBytes } from '#domain/policy/statement.ts';
import { signAsCosigner } from '#mpc/envelope.ts';

/** The input of a statement of what a co-signer has in force for one key. */
export interface StatementContext {
  readonly membership: Pick<CosignerSet, 'own'>;
  readonly keyId: string;
  /** The policy in force in the vault of the key. */
  readonly policy: Policy;
  /** The epoch of the share in use. */
  readonly epoch: number;
  readonly nowMs: number;
}

/**
 * Returns the policy that this co-signer has in force for a key, signed with its identity over the
 * nonce of the verifier. It needs no approval: it reveals no more than the coordinator knows, and
 * its bytes have a domain of their own, so the signature is valid for nothing else.
 *
 * @param body `{ nonce }`, lower-case hex of 32 bytes
 *
 * Throws `Malformed` for another body.
 */
export async function statePolicy(
  { membership: { own }, keyId, policy, epoch, nowMs }: StatementContext,
  body: unknown,
): Promise<SignedStatement> {
  const nonce = hexOf(fieldsOf(body, ['nonce'])['nonce'], 32);
  const statement = {
    cosigner: own.index,
    vaultId: policy.vaultId,
    keyId,
    policyVersion: policy.version,
    policyHash: policyHashOf(policy),
    signingThreshold: policy.signingThreshold,
    epoch,
    issuedAtMs: nowMs,
    nonce,
  };
  const signature = bytesToHex(await signAsCosigner(own, statementBytes(statement)));
  return { ...statement, signature };
}

/**
 * Returns the policy in force of a vault when a coordinator named exactly this one. Refuses
 * `policy-behind` and `policy-ahead` with the version in force, and `policy-mismatch`.
 */
export function policyInForce(view: VaultView | null, named: PolicyName): Result<Policy, Refused> {
  const version = view?.current.version ?? 0;
  if (view === null || version < named.version) return refused(refusal('policy-behind', String(version)));
  if (version > named.version) return refused(refusal('policy-ahead', String(version)));
  return policyHashOf(view.current) === named.hash ? accepted(view.current) : refused(refusal('policy-mismatch'));
}

/**
 * Reports whether the co-signers that a policy names are the configured ones, each with the same
 * identity key. A policy that names none matches: it is older than pins, or its signers pin none.
 *
 * A co-signer that adopted other keys would help an attacker that owns these keys, because devices
 * follow the pins of the policy. A device requires the fingerprint of new pins before it approves
 * them.
 */
export function pinsMatch(
  { cosigners }: Pick<Policy, 'cosigners'>,
  { signingKeys }: Pick<CosignerSet, 'signingKeys'>,
): boolean {
  if (cosigners === undefined) return true;
  const own = [...signingKeys].map(([index, signing]) => ({ index, signing }));
  return (
    cosigners.length === own.length &&
    cosigners.every(({ index, signing }, i) => own[i]?.index === index && own[i].signing === signing)
  );
}
