import type { Amount } from '#domain/asset/amount.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { Valuation } from '#domain/asset/valuation.ts';
import type { KnownCounterparties } from '#domain/activity/spam.ts';
import type { Exposure } from '#domain/asset/exposure.ts';
import type { PreparedAttempt } from '#domain/transaction/event.ts';
import type { TokenId, UserId, VaultId } from '#domain/id.ts';
import { newTransactionId, newUserId, parseTokenId, parseVaultId } from '#domain/id.ts';
import type { MessageIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY } from '#domain/policy/policy.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Attempt, ValuedInclusion, Transaction, TransactionState } from '#domain/transaction/transaction.ts';
import type { Actor, Operator } from '#domain/access/approval.ts';

/** The people of the tests: alice, bob and carol are signers, and mallory is not. */
export const OPERATOR: Operator = { serviceKey: '0'.repeat(8), address: null };
export const alice = actor(1);
export const bob = actor(2);
export const carol = actor(3);
export const mallory = actor(9);

export const CREATED_AT_MS = Date.parse('2026-11-02T09:00:00Z');
export const EXPIRES_AT_MS = CREATED_AT_MS + 7 * 24 * 60 * 60 * 1000;
export const NOON_MS = CREATED_AT_MS + 3 * 60 * 60 * 1000;

export const vaultId: VaultId = parsed(parseVaultId(7));

/** The policy of most vaults in the tests. */
export const BY_TOKEN = { approvalMode: 'token', devices: [], signingThreshold: 2 } as const;

export const policy: Policy = {
  ...BY_TOKEN,
  vaultId,
  version: 1,
  signers: [alice.userId, bob.userId, carol.userId],
  threshold: 2,
  rules: NO_RULES,
  previousHash: NO_PREVIOUS_POLICY,
};

export function amount(text: string): Amount {
  return parsed(parseAmount(text));
}

export function actor(number: number): Actor {
  const userId: UserId = newUserId(number, new Uint8Array(10).fill(number));
  const tokenId: TokenId = parsed(parseTokenId(`token${number}`.padEnd(16, 'x')));
  return { userId, tokenId, address: null };
}

export const DIGEST = 'd1'.repeat(32);
export const HASH = `0x${'aa'.repeat(32)}`;
export const OTHER_HASH = `0x${'bb'.repeat(32)}`;

const transactionId = newTransactionId(vaultId, CREATED_AT_MS, new Uint8Array(10).fill(5));

/** The fields that all intents of the tests share. */
export const FRAME = {
  vaultId,
  transactionId,
  chain: 'eip155:31337',
  from: '0x1111111111111111111111111111111111111111',
  policyVersion: 1,
  policyHash: '00'.repeat(32),
  note: null,
  createdAtMs: CREATED_AT_MS,
  expiresAtMs: EXPIRES_AT_MS,
};

export function transferIntent(): TransferIntent {
  const to = '0x2222222222222222222222222222222222222222';
  return {
    ...FRAME,
    kind: 'transfer',
    to,
    tokenAddress: null,
    amount: amount('1000'),
    maxFee: amount('100'),
    lookalikeOf: null,
  };
}

/** Returns the exposure of `transferIntent`. */
export function transferExposure(): Exposure {
  const { chain, to, tokenAddress, amount: moved } = transferIntent();
  return { chain, movements: [{ tokenAddress, amount: moved }], beneficiaries: [to], isUnreadable: false };
}

/** Returns zero, as the amount that was spent today. */
export const UNSPENT = () => 0n;

export function messageIntent(): MessageIntent {
  return { ...FRAME, kind: 'message', format: 'eip191', message: 'hello' };
}

/**
 * Returns a 2-of-3 transfer in the given state, with the fields that a record in that state has.
 */
export function transactionIn(state: TransactionState, differences: Partial<Transaction> = {}): Transaction {
  const decided = !['DRAFT', 'SUBMITTED', 'REJECTED', 'CANCELLED', 'EXPIRED'].includes(state);
  const sent = ['BROADCAST', 'CONFIRMING', 'SUCCEEDED', 'FAILED'].includes(state);
  const mined = ['CONFIRMING', 'SUCCEEDED'].includes(state) || state === 'FAILED';
  return {
    id: transactionId,
    vaultId,
    version: 5,
    state,
    stateReason: state === 'FAILED' ? 'REVERTED' : null,
    displayType: 'SENT',
    direction: 'out',
    visible: true,
    visibilityChoice: null,
    chain: 'anvil',
    intent: transferIntent(),
    digest: DIGEST,
    exposure: transferExposure(),
    requiredApprovals: 2,
    approvals: decided ? [approvalBy(alice), approvalBy(bob)] : [],
    rejection: state === 'REJECTED' ? approvalBy(carol) : null,
    attempts: sent ? [sentAttempt()] : [],
    cancelling: false,
    givenUp: null,
    waitsFor: null,
    endedByTimeAtMs: null,
    watchedSinceMs: null,
    inclusion: mined
      ? inclusion({ succeeded: state !== 'FAILED', confirmations: state === 'CONFIRMING' ? 1 : 3 })
      : null,
    signature: null,
    speed: 'normal',
    nonceHeld: decided,
    externalId: null,
    createdBy: alice,
    createdAtMs: CREATED_AT_MS,
    updatedAtMs: CREATED_AT_MS,
    ...differences,
  };
}

export function approvalBy(approver: Actor, digest: string = DIGEST) {
  return { actor: approver, digest, device: null, atMs: CREATED_AT_MS };
}

export const PREPARED: PreparedAttempt = {
  purpose: 'intent',
  nonce: '4',
  payload: '0x02',
  signingDigest: `0x${'cc'.repeat(32)}`,
  maxFee: amount('90'),
  validUntil: null,
};

export function preparedAttempt(): Attempt {
  return { ...PREPARED, number: 1, preparedAtMs: CREATED_AT_MS, signed: null, sent: null, refusal: null };
}

export function signedAttempt(): Attempt {
  return { ...preparedAttempt(), signed: { raw: '0x02ff', hash: HASH, atMs: CREATED_AT_MS } };
}

export function sentAttempt(): Attempt {
  return { ...signedAttempt(), sent: { outcome: 'accepted', answer: null, atMs: CREATED_AT_MS, times: 1 } };
}

/** The valuation of a deployment without a price source. */
export const UNPRICED: Valuation = { native: { price: { state: 'unpriced' }, decimals: 18 }, tokens: [] };

/** The counterparties of a vault that knows no address. */
export const NO_COUNTERPARTIES: KnownCounterparties = {
  isLookalike: () => false,
  hasSent: () => false,
  hasAdopted: () => false,
  imitatesAdopted: () => false,
  isNamed: () => false,
  isShown: () => false,
  shownTokens: () => new Set(),
};

export function inclusion(differences: Partial<ValuedInclusion> = {}): ValuedInclusion {
  return {
    hash: HASH,
    blockNumber: '100',
    blockHash: `0x${'b1'.repeat(32)}`,
    succeeded: true,
    feePaid: amount('21'),
    confirmations: 1,
    finalized: false,
    failure: null,
    movements: [],
    movementCount: 0,
    changes: [],
    usdValue: null,
    tokens: [],
    ...differences,
  };
}

function parsed<T>(value: T | null): T {
  if (value === null) throw new Error('the cast must parse');
  return value;
}
