import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { dissentersIn, agreementsOf } from '#devices/cosigner-agreement.ts';
import type { StatementVerdict } from '#devices/statement.ts';
import { verifyStatements } from '#devices/statement.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { accepted } from '#domain/result.ts';
import { statementBytes } from '#domain/policy/statement.ts';
import { identitySecrets } from '#mpc/identity.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { DeliveredStatement } from '#cosigner-client/policy-statements.ts';
import { policyStatements } from '#cosigner-client/policy-statements.ts';
import type { Cosigners } from '../cosigner/cosigners.ts';
import { hashOf, mandateFor, successor } from '../devices/policy-links-scene.ts';
import { sourceOf } from '../cosigner/policy-source.ts';
import { party } from '../mpc/dealt-key.ts';

/** Returns the identity keys of the co-signers, as their operators give them to the signers. */
export function pinsOf(cosigners: Cosigners): Promise<readonly CosignerPin[]> {
  return Promise.all(
    cosigners.all.map(async ({ index }) => {
      const response = await fetch(`${cosigners.originOf(index)}/identity`);
      const { signing } = (await response.json()) as { readonly signing: string };
      return { index, signing };
    }),
  );
}

/**
 * Returns a policy change to three approvals, with the approvals of alice's laptop and bob's phone.
 */
export function stricter(policy: Policy): AdoptedPolicy {
  const next = successor(policy, { threshold: 3 });
  const { bytes: _bytes, digest: _digest, ...mandate } = mandateFor(next, undefined, Date.now());
  return { policy: next, mandate: { ...mandate, policy: next } };
}

/** Brings a policy change to these co-signers only, with the attestations of all. */
export async function showTo(
  targets: readonly CosignerClient[],
  policies: readonly AdoptedPolicy[],
  attesters: readonly CosignerClient[] = targets,
): Promise<void> {
  await bringPolicies(sourceOf(...policies), { targets, attesters });
}

/** Returns a signer who requests statements through the coordinator and verifies the answers. */
export function signer(
  pins: readonly CosignerPin[],
  { keyId, policy }: { readonly keyId: string; readonly policy: Policy },
) {
  const draw = () => bytesToHex(randomBytes(32));
  const verdicts = (entries: readonly DeliveredStatement[], nonce: string, nowMs = Date.now()) => {
    const expected = { version: policy.version, hash: hashOf(policy) };
    const request = {
      vaultId: policy.vaultId,
      keyId,
      signingThreshold: policy.signingThreshold,
      nonce,
      policy: expected,
    };
    return verifyStatements({ pins, request, nowMs, entries });
  };
  return {
    draw,
    verdicts,
    /**
     * Requests statements with a new nonce. `tamper` changes them as a hostile coordinator would.
     */
    request: async (
      cosigners: readonly CosignerClient[],
      tamper: (entries: readonly DeliveredStatement[]) => readonly DeliveredStatement[] = (entries) => entries,
    ): Promise<readonly StatementVerdict[]> => {
      const nonce = draw();
      return verdicts(tamper(await policyStatements(cosigners, [keyId], nonce)), nonce);
    },
  };
}

/** Returns one short text for each verdict. */
export const inWords = (verdicts: readonly StatementVerdict[]): readonly string[] =>
  verdicts.map((one) => (one.verdict === 'unknown' ? `unknown: ${one.reason}` : one.verdict));

/**
 * Returns the decision of the device on these verdicts: the co-signers that the person has to name
 * before the device signs, or the reason why it does not sign. `policies` are the policies that the
 * device was shown.
 */
export function decisionOn(
  verdicts: readonly StatementVerdict[],
  { policies, threshold }: { readonly policies: readonly Policy[]; readonly threshold: number },
): readonly string[] | 'too-few-agree' {
  const chain = policies.map((policy) => ({ version: policy.version, hash: hashOf(policy) }));
  const exceptions = dissentersIn(agreementsOf(verdicts, { chain }), threshold);
  return exceptions.ok ? exceptions.value.map((one) => `${one.cosigner}:${one.agreement}`) : exceptions.refusal;
}

/**
 * Returns a hostile co-signer, which signs that a policy is in force, whatever policy it has
 * adopted.
 */
export function liar(
  cosigners: Cosigners,
  index: number,
  { keyId, states }: { readonly keyId: string; readonly states: Policy },
): CosignerClient {
  const secrets = JSON.parse(readFileSync(join(cosigners.folder, 'secrets.json'), 'utf8')) as {
    readonly cosigners: readonly { readonly identity: string }[];
  };
  const { signing } = identitySecrets(secrets.cosigners[index - 1]?.identity ?? '');
  return {
    index: party(index),
    call: async (_path, body) => {
      const { nonce } = body as { readonly nonce: string };
      const statement = {
        cosigner: index,
        vaultId: states.vaultId,
        keyId,
        policyVersion: states.version,
        policyHash: hashOf(states),
        signingThreshold: states.signingThreshold,
        epoch: 1,
        issuedAtMs: Date.now(),
        nonce,
      };
      return accepted({ ...statement, signature: bytesToHex(ed25519.sign(statementBytes(statement), signing)) });
    },
  };
}
