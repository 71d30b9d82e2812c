import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { composeTransaction } from '#chains/evm/rules/compose.ts';
import type { Pinned, SigningRequest } from '#cosigner/policy/approval-check.ts';
import { checkRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Intent, OnChainIntent, TransferIntent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import { alice, amount, bob, NOON_MS, policy, transferIntent } from '../../domain/cast.ts';

export const WALLET = '0x1111111111111111111111111111111111111111';
export const OTHER = '0x3333333333333333333333333333333333333333';
export const QUOTE = {
  gasLimit: '21000',
  maxFeePerGas: '2000',
  maxPriorityFeePerGas: '1000',
  maxFee: amount('42000000'),
};

export const intent: TransferIntent = {
  ...transferIntent(),
  maxFee: amount('42000000'),
  policyHash: policyHashOf(policy),
};
export const pinned: Pinned = {
  wallet: WALLET,
  current: policy,
  named: policy,
  nowMs: NOON_MS,
  feeCeilings: new Map(),
  isRecorded: () => false,
};

export function digestOf(of: Intent): string {
  return bytesToHex(sha256(intentBytes(of)));
}

export function approvalsBy(of: Intent, ...actors: readonly Actor[]): readonly Approval[] {
  return actors.map((actor) => ({ actor, digest: digestOf(of), device: null, atMs: NOON_MS }));
}

/**
 * Returns a signing request that alice and bob have approved and that is composed honestly, with
 * the given differences.
 */
export function request(differences: Partial<SigningRequest> = {}, of: OnChainIntent = intent): SigningRequest {
  return {
    intent: of,
    payload: composeTransaction(of, QUOTE, 4n).payload,
    attempt: 1,
    purpose: 'intent',
    approvals: approvalsBy(of, alice, bob),
    policyVersion: 1,
    evidence: [],
    ...differences,
  };
}

/** What a co-signer has, with the policies of its vault in order. */
type Held = Partial<Omit<Pinned, 'current' | 'named'>> & { readonly policies?: readonly Policy[] };

/** Returns what a co-signer compares a request with. */
export function heldFor(sent: SigningRequest, { policies = [policy], ...held }: Held): Pinned {
  const current = policies.at(-1);
  if (current === undefined) throw new Error('a vault has a policy');
  const named = policies.find(({ version }) => version === sent.intent.policyVersion) ?? null;
  return { ...pinned, ...held, current, named };
}

/** Returns 'signs', or the code and detail of the refusal. */
export async function answer(sent: SigningRequest, held: Held = {}): Promise<string> {
  const against = heldFor(sent, held);
  // By default the coordinator knows the newest policy.
  const policyVersion = sent.policyVersion === 1 ? against.current.version : sent.policyVersion;
  const checked = await checkRequest({ ...sent, policyVersion }, against);
  if (checked.ok) return 'signs';
  const { code, detail } = checked.refusal;
  return detail === null ? code : `${code} ${detail}`;
}

export function next(before: Policy, change: Partial<Policy>): Policy {
  return { ...before, version: before.version + 1, previousHash: policyHashOf(before), ...change };
}
