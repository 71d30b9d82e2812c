import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Hex } from 'viem';
import { encodeFunctionData, erc20Abi, parseTransaction, recoverMessageAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Intent } from '#domain/transaction/intent.ts';
import { actionOfAttempt, intentBytes } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { present } from '../../chains/evm/cast.ts';
import { alice, amount, bob } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import {
  anvilRules,
  approved,
  approvedMessage,
  approvedTransfer,
  attemptOf,
  newKey,
  startCosigners,
  approvalBy,
} from '../cosigners.ts';
import { refusedByAll } from '../rejected-requests.ts';

/**
 * Tests which kinds of transactions and messages three real co-signers sign besides transfers, and
 * which they refuse.
 */

const CONTRACT = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
const RECIPIENT = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359';

const digestOf = (intent: Intent) => bytesToHex(sha256(intentBytes(intent)));

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());

test.each(['hello', '{"a":1}', 'Zażółć gęślą jaźń 🔑', 'line\nline'])(
  'the text %j is signed as EIP-191 defines',
  async (message) => {
    const request = approvedMessage(key, { format: 'eip191', message });
    const outcome = await thresholdSign(cosigners.some(1, 3), request);
    if (!outcome.ok) throw new Error(outcome.reason);
    const signature = anvilRules.assembleMessage(request.intent, present(outcome.signatures[0]));
    if (!signature.ok) throw new Error(signature.refusal.detail);
    expect(await recoverMessageAddress({ message, signature: signature.value as Hex })).toBe(key.addresses['anvil']);
  },
);

test('the same text is signed for a second message, which is a transaction of its own', async () => {
  for (let i = 0; i < 2; i++) {
    const request = approvedMessage(key, { format: 'eip191', message: 'twice' });
    expect((await thresholdSign(cosigners.some(1, 2), request)).ok).toBe(true);
  }
});

test('no co-signer signs another text than the approved one, or the same text as another kind of message', async () => {
  const good = approvedMessage(key, { format: 'eip191', message: 'hello' });
  const bad = approvedMessage(key, { format: 'eip191', message: 'hullo' });
  await refusedByAll(cosigners, { ...good, attempt: bad.attempt }, 'payload-refused');
  await refusedByAll(cosigners, { ...good, intent: bad.intent, attempt: bad.attempt }, 'not-enough-approvals');
  await refusedByAll(cosigners, { ...good, attempt: { ...good.attempt, payload: '0x' } }, 'payload-refused');
  // The bytes of a payment are refused as a message, because a message needs its prefix.
  const { attempt } = approvedTransfer({ key });
  await refusedByAll(cosigners, { ...good, attempt }, 'payload-refused');
  // Typed data that was approved as plain text is refused.
  const typed = JSON.stringify({ types: { A: [] }, primaryType: 'A', domain: {}, message: {} });
  const disguised = approvedMessage(key, { format: 'eip191', message: 'x' });
  const intent = { ...disguised.intent, message: typed };
  const approvals = [approvalBy(alice, digestOf(intent)), approvalBy(bob, digestOf(intent))];
  await refusedByAll(cosigners, { ...disguised, intent, approvals }, 'payload-refused');
});

test.each<[string, Exclude<Parameters<typeof approved>[1], { kind: 'transfer' }>, object]>([
  [
    'a call of a contract',
    { kind: 'contract-interaction', to: CONTRACT, data: '0xd0e30db0', value: amount('7') },
    { value: 7n, data: '0xd0e30db0' },
  ],
  [
    'an allowance',
    { kind: 'erc20-approve', tokenAddress: CONTRACT, spender: RECIPIENT, amount: amount('25') },
    { data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [RECIPIENT, 25n] }) },
  ],
])('%s is signed when its bytes do exactly what was approved', async (_name, action, effect) => {
  const request = approved(key, action);
  const outcome = await thresholdSign(cosigners.some(2, 3), request);
  if (!outcome.ok) throw new Error(outcome.reason);
  const assembled = anvilRules.assemble(request.intent, request.attempt, outcome.signatures);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  const parsed = parseTransaction(assembled.value.raw as `0x02${string}`);
  expect(parsed).toMatchObject({ to: CONTRACT.toLowerCase(), ...effect });
  const other: typeof action =
    action.kind === 'erc20-approve' ? { ...action, amount: amount('26') } : { ...action, value: amount('8') };
  await refusedByAll(cosigners, { ...approved(key, action), attempt: approved(key, other).attempt }, 'payload-refused');
});

test('after a cancellation at the nonce of a payment that one co-signer had begun to sign, the payment is refused', async () => {
  const request = approvedTransfer({ key, nonce: 580n });
  // One co-signer has recorded the payment and the other never answers, so no signature exists.
  cosigners.watch(({ cosigner, path }) => {
    if (cosigner === 2 && path.endsWith('/start')) throw new Error('the line is cut');
  });
  await expect(thresholdSign(cosigners.some(1, 2), request)).rejects.toThrow('the line is cut');
  cosigners.watch(() => {});
  const nothing = actionOfAttempt(request.intent, 'cancellation');
  const filler = {
    ...request,
    attempt: {
      ...attemptOf(nothing, { nonce: 580n, maxFeePerGas: 2_400_000_000n }, 2),
      purpose: 'cancellation' as const,
    },
  };
  expect((await thresholdSign(cosigners.some(2, 3), filler)).ok).toBe(true);
  expect((await thresholdSign(cosigners.some(1, 2), filler)).ok).toBe(true);
  const carriedOut = await thresholdSign(cosigners.some(2, 3), request);
  expect(carriedOut.ok ? '' : carriedOut.reason).toContain('second-digest');
});
