import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import { parseDevice } from '#devices/device-key.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ApprovalRequest, RelayedStatement } from '#domain/access/approval-page-message.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Device } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { UserId } from '#domain/id.ts';
import { parsePolicyChangeId, parseTransactionId, parseUserId, parseVaultId } from '#domain/id.ts';
import type { Intent, TransferIntent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY, policyBytes } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { rejectionBytes } from '#domain/policy/policy-rejection.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { PolicyStatement } from '#domain/policy/statement.ts';
import { statementBytes } from '#domain/policy/statement.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';

/**
 * A vault of alice and bob with three co-signers, and the requests that a coordinator can send
 * about it.
 */

export const NOW_MS = Date.UTC(2026, 10, 23, 12);
export const NONCE = '5a'.repeat(32);
const ANVIL = 'eip155:31337';
export const SUPPLIER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const THIEF = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

function parsed<T>(value: T | null): T {
  if (value === null) throw new Error('the scene is malformed');
  return value;
}

export const ALICE = parsed(parseUserId('usr_01J00000000000000000000000'));
export const BOB = parsed(parseUserId('usr_01J00000000000000000000001'));
const VAULT = parsed(parseVaultId(7));

const secretOf = (name: string) => sha256(utf8ToBytes(name));

/** Returns an ECDSA key in the format of the API. */
export function keyNamed(name: string): ApprovalRequest['keys'][number] {
  const publicKey = secp256k1.getPublicKey(secretOf(name));
  const scheme = 'ecdsa-secp256k1';
  return { keyId: keyIdOf(scheme, publicKey), scheme, publicKey: bytesToHex(publicKey) };
}

/** The key of the wallet. */
export const KEY = keyNamed('key of the wallet');
const WALLET = parsed(addressOn(ANVIL, KEY.scheme, hexToBytes(KEY.publicKey)));

export function scriptOf(userId: UserId, name: string): Device {
  const publicKey = bytesToHex(ed25519.getPublicKey(secretOf(name)));
  return deviceOf({ userId, algorithm: 'ed25519', publicKey, credentialId: null, rpId: null, origin: null });
}

export function deviceOf(described: Parameters<typeof parseDevice>[0]): Device {
  const device = parseDevice(described);
  if (typeof device === 'string') throw new Error(`not a device: ${device}`);
  return device;
}

/** The identity public keys of the co-signers, by the name of their operator. */
export function pinsOf(operator: string, count = 3): readonly CosignerPin[] {
  return Array.from({ length: count }, (_, i) => ({
    index: i + 1,
    signing: bytesToHex(ed25519.getPublicKey(secretOf(`${operator} ${i + 1}`))),
  }));
}

export const PINS = pinsOf('honest');

export function policyOf(changes: Partial<Policy> = {}): Policy {
  const devices = changes.devices ?? [scriptOf(ALICE, 'laptop of alice'), scriptOf(BOB, 'laptop of bob')];
  return {
    vaultId: VAULT,
    version: 1,
    signers: [ALICE, BOB],
    threshold: 2,
    signingThreshold: 2,
    approvalMode: 'device',
    rules: { ...NO_RULES, addressBook: [{ chain: ANVIL, address: SUPPLIER, name: 'Supplier' }] },
    previousHash: NO_PREVIOUS_POLICY,
    cosigners: PINS,
    ...changes,
    devices: sortedByKeyId(devices),
  };
}

export function hashOf(policy: Policy): string {
  return bytesToHex(sha256(policyBytes(policy)));
}

export function transferOf(policy: Policy, changes: Partial<TransferIntent> = {}): TransferIntent {
  return {
    kind: 'transfer',
    vaultId: VAULT,
    transactionId: parsed(parseTransactionId('7.01J00000000000000000000002')),
    chain: ANVIL,
    from: WALLET,
    to: SUPPLIER,
    tokenAddress: null,
    amount: amountOf(15n * 10n ** 17n),
    maxFee: amountOf(10n ** 15n),
    lookalikeOf: null,
    policyVersion: policy.version,
    policyHash: hashOf(policy),
    note: null,
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 3_600_000,
    ...changes,
  };
}

/** Returns a policy statement of one operator's co-signer with its valid signature. */
export function statementOf(cosigner: number, said: Partial<PolicyStatement>, operator = 'honest'): RelayedStatement {
  const statement: PolicyStatement = {
    cosigner,
    vaultId: VAULT,
    keyId: KEY.keyId,
    policyVersion: 1,
    policyHash: '',
    signingThreshold: 2,
    epoch: 1,
    issuedAtMs: NOW_MS,
    nonce: NONCE,
    ...said,
  };
  const signature = bytesToHex(ed25519.sign(statementBytes(statement), secretOf(`${operator} ${cosigner}`)));
  return { cosigner, keyId: statement.keyId, statement: { ...statement, signature } };
}

/**
 * Returns the statements of all three co-signers, each of which states that it has adopted
 * `policy`.
 */
export function statementsOf(policy: Policy, said: Partial<PolicyStatement> = {}): readonly RelayedStatement[] {
  const inForce = { policyVersion: policy.version, policyHash: hashOf(policy) };
  return [1, 2, 3].map((cosigner) => statementOf(cosigner, { ...inForce, ...said }));
}

export function requestOf(policy: Policy, intent: Intent, changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    type: 'conclave/approval/request',
    version: 1,
    requestId: 'request-1',
    userId: ALICE,
    canonical: bytesToHex(intentBytes(intent)),
    policy: bytesToHex(policyBytes(policy)),
    proposed: null,
    mandate: null,
    keys: [KEY],
    statements: statementsOf(policy),
    cosigners: [],
    remarks: [],
    ...changes,
  };
}

export function changeOf(policy: Policy, proposed: Policy, changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const mandate = {
    id: parsed(parsePolicyChangeId('pch_01J00000000000000000000003')),
    note: null,
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 3_600_000,
  };
  return requestOf(policy, transferOf(policy), {
    canonical: bytesToHex(mandateBytes(mandate, hashOf(proposed))),
    proposed: bytesToHex(policyBytes(proposed)),
    ...changes,
  });
}

/** Returns the request to reject the change of `changeOf`, with the whole change. */
export function rejectionOf(policy: Policy, proposed: Policy, changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const { canonical: mandate, proposed: bytes } = changeOf(policy, proposed);
  const rejection = {
    vaultId: VAULT,
    changeId: readMandate(hexToBytes(mandate)).id,
    mandateDigest: bytesToHex(sha256(hexToBytes(mandate))),
  };
  return {
    ...requestOf(policy, transferOf(policy)),
    canonical: bytesToHex(rejectionBytes(rejection)),
    proposed: bytes,
    mandate,
    keys: [],
    statements: [],
    ...changes,
  };
}
