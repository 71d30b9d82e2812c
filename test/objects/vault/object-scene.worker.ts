import { env } from 'cloudflare:workers';
import { runInDurableObject } from 'cloudflare:test';
import { expect } from 'vitest';
import { parseAmount } from '#domain/asset/amount.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseKeyId, parseVaultId } from '#domain/id.ts';
import type { Role } from '#domain/access/member.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';

import type { PolicyPatch } from '#domain/vault/next-policy.ts';
import type { CreationRequest } from '#objects/vault/writes/new-transaction.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { VaultStub } from '#objects/vault/doors/stub.ts';
import { OPERATOR, alice, bob, BY_TOKEN, carol } from '../../domain/cast.ts';
import { vaultOf } from './vault-of.ts';

export const coordinator = env as unknown as CoordinatorEnv;

export const WALLET = '0x1111111111111111111111111111111111111111';
export const RECIPIENT = '0x2222222222222222222222222222222222222222';
const signer: readonly Role[] = ['signer'];

/** The tests of a file share the storage, so each test has its own vault. */
let lastVault = 1000;

export async function createdVault(differences: { initialState?: 'DRAFT' | 'SUBMITTED'; mostPending?: number } = {}) {
  lastVault += 1;
  const id = parseVaultId(lastVault);
  if (id === null) throw new Error('a test vault needs an id');
  const vault = vaultOf(coordinator, id);
  const opened = await vault.execute(OPERATOR, {
    type: 'createVault',
    spec: {
      id,
      reference: `vault-${id}`,
      foundedAtMs: Date.now(),
      configuration: {
        name: 'Treasury',
        initialState: differences.initialState ?? 'SUBMITTED',
        decisionPeriodSeconds: 3600,
        mostPending: differences.mostPending ?? 100,
        chains: ['anvil'],
      },
      members: [alice, bob, carol].map(({ userId }) => ({ userId, roles: signer })),
      threshold: 2,
      ...BY_TOKEN,
      rules: NO_RULES,
    },
  });
  expect(opened.ok).toBe(true);
  for (const person of [alice, bob, carol]) await vault.execute(person, { type: 'answerInvitation', answer: 'accept' });
  return { id, vault };
}

export async function vaultWithWallet(differences: Parameters<typeof createdVault>[0] = {}) {
  const opened = await createdVault(differences);
  const keyId = parseKeyId('a'.repeat(26));
  if (keyId === null) throw new Error('the key id must parse');
  await opened.vault.report({
    type: 'recordKey',
    key: {
      keyId,
      scheme: 'ecdsa-secp256k1',
      publicKey: '02',
      publicShares: {},
      addresses: { anvil: WALLET },
    },
  });
  return opened;
}

/** Changes the policy with the required approvals. */
export async function changePolicy(
  vault: VaultDoors,
  patch: Omit<PolicyPatch, 'rules'> & Partial<PolicyPatch>,
): Promise<void> {
  const proposed = await vault.execute(alice, { type: 'proposePolicy', patch: { rules: {}, ...patch }, note: null });
  if (!proposed.ok) throw new Error(JSON.stringify(proposed.refusal));
  const { id } = proposed.value.change;
  for (const actor of [alice, bob])
    expect(
      (await vault.execute(actor, { type: 'decidePolicyChange', id, decision: { type: 'approve', device: null } })).ok,
    ).toBe(true);
  expect(await vault.query(alice, { type: 'readPolicyChange', id })).toMatchObject({
    value: { change: { state: 'ADOPTED' } },
  });
}

export function transfer(differences: Partial<CreationRequest> = {}): CreationRequest {
  const amount = parseAmount('1000');
  if (amount === null) throw new Error('the amount must parse');
  return {
    chain: 'anvil',
    action: { kind: 'transfer', to: RECIPIENT, tokenAddress: null, amount },
    note: null,
    externalId: null,
    acceptLookalikeOf: null,
    speed: 'normal',
    idempotency: null,
    ...differences,
  };
}

export const approve = (vault: VaultDoors, actor: Actor, id: TransactionId) =>
  vault.execute(actor, { type: 'approve', id, device: null });
export const reject = (vault: VaultDoors, actor: Actor, id: TransactionId) =>
  vault.execute(actor, { type: 'reject', id, device: null });
export const create = (vault: VaultDoors, actor: Actor, request: CreationRequest) =>
  vault.execute(actor, { type: 'createTransaction', request });

export async function created(vault: VaultDoors, actor: Actor = alice, request: CreationRequest = transfer()) {
  const result = await create(vault, actor, request);
  if (!result.ok) throw new Error(result.refusal.code);
  return result.value.view.transaction;
}

export async function stateOf(vault: VaultDoors, id: TransactionId) {
  const result = await vault.query(alice, { type: 'readRecord', id });
  if (!result.ok) throw new Error(result.refusal.code);
  if ('activity' in result.value) throw new Error('the vault has made it');
  return result.value.transaction;
}

export function rows<T>(vault: VaultStub, query: string): Promise<T[]> {
  return runInDurableObject(vault, (_object, state) => state.storage.sql.exec(query).toArray() as T[]);
}
