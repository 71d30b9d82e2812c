/**
 * Attack: a coordinator serves a dashboard that names another key than the one of the wallet, about
 *   which the statements of the co-signers are true.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: F10
 * Defence: the request carries the public keys. The approval page derives the id of each key and
 *   the address of the wallet, and compares the address with the one that the payment spends from.
 */
import { expect, test } from 'vitest';
import { InvalidRequest } from '#review/invalid-request.ts';
import { confirm } from '#approval-page/cosigners/confirm.ts';
import { verifyRequest } from '#review/verified-request.ts';
import type { ApprovalRequest } from '#domain/access/approval-page-message.ts';
import { parseApprovalRequest } from '#domain/access/approval-page-message.ts';
import {
  hashOf,
  KEY,
  keyNamed,
  NONCE,
  NOW_MS,
  PINS,
  policyOf,
  requestOf,
  statementsOf,
  transferOf,
} from '../../approval-page/request-scene.ts';

const first = policyOf();
/** The policy that the co-signers have adopted for the other key, and not for the wallet. */
const second = policyOf({ version: 2, threshold: 1, previousHash: hashOf(first) });
const OTHER = keyNamed('other key of the vault');
const payment = transferOf(second);

/** Returns what the approval page says to a request: why it does not sign, or null. */
function refusalOf(request: ApprovalRequest): string | null {
  const parsed = parseApprovalRequest(request);
  if (parsed?.type !== 'conclave/approval/request') return 'not a request';
  try {
    const pins = { cosigners: PINS, threshold: 2 };
    return confirm(verifyRequest(parsed, NOW_MS), parsed, { pins, nonce: NONCE, nowMs: NOW_MS }).fault;
  } catch (error) {
    if (error instanceof InvalidRequest) return error.message;
    throw error;
  }
}

test('a dashboard that names another key of the vault for the wallet of a payment gets no signature', () => {
  // The statements are true: the second policy for the other key, the first for the wallet's.
  const truths = [...statementsOf(second, { keyId: OTHER.keyId }), ...statementsOf(first, { keyId: KEY.keyId })];
  const answerTo = (keys: ApprovalRequest['keys']) =>
    refusalOf(requestOf(second, payment, { keys, statements: truths }));
  expect(answerTo([KEY])).toBe('Too few co-signers confirm the policy that the server shows.');
  expect(answerTo([OTHER])).toBe('The key from the service is not the key of the wallet.');
  expect(answerTo([{ ...KEY, keyId: OTHER.keyId }])).toBe('A key id does not match its public key.');
  expect(answerTo([{ ...OTHER, keyId: KEY.keyId }])).toBe('A key id does not match its public key.');
  expect(answerTo([OTHER, OTHER])).toContain('A wallet has exactly one key');
  expect(answerTo([])).toContain('A wallet has exactly one key');
});

test('a payment whose wallet belongs to the named key is approved with the statements about that key', () => {
  expect(refusalOf(requestOf(second, payment, { statements: statementsOf(second) }))).toBe(null);
});

test('a request that names keys by their ids alone is no request', () => {
  const { keys, ...rest } = requestOf(second, payment, { statements: statementsOf(second, { keyId: OTHER.keyId }) });
  const old: object = { ...rest, keyIds: keys.map(() => OTHER.keyId) };
  expect(parseApprovalRequest(old)).toBe(null);
});
