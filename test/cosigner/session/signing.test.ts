import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Hex } from 'viem';
import { parseTransaction, recoverTransactionAddress } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { availableHolders } from '#jobs/signing/threshold-sign.ts';
import { thresholdSign } from '../threshold-sign.ts';
import type { SigningOutcome } from '#jobs/signing/threshold-sign.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { alice, amount, bob, carol, mallory, NOON_MS, policy } from '../../domain/cast.ts';
import { party } from '../../mpc/dealt-key.ts';
import type { ApprovedTransfer, Cosigners, Passage } from '../cosigners.ts';
import {
  anvilRules,
  approvedTransfer,
  attemptOf,
  inVault,
  newKey,
  present,
  startCosigners,
  approvalBy,
} from '../cosigners.ts';
import { openBody, opening, refusedByAll } from '../rejected-requests.ts';
import { shownTo } from '../../attacks/policy-scene.ts';
import { founded } from '../policy/device-scene.ts';

/** Tests three real co-signers with a coordinator that is first honest and then hostile. */

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());
beforeEach(() => void cosigners.watch(() => {}));

function signed(outcome: SigningOutcome, request: ApprovedTransfer): string {
  if (!outcome.ok) throw new Error(outcome.reason);
  const assembled = anvilRules.assemble(request.intent, request.attempt, outcome.signatures);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  return assembled.value.raw;
}

test.each([
  [1, 2],
  [1, 3],
  [2, 3],
])('co-signers %i and %i sign together, and other libraries accept the signature', async (first, second) => {
  const request = approvedTransfer({ key });
  const outcome = await thresholdSign(cosigners.some(first, second), request);
  const raw = signed(outcome, request);
  expect(await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toBe(
    key.addresses['anvil'],
  );
  const { to, value, chainId } = parseTransaction(raw as `0x02${string}`);
  expect([to, value, chainId]).toEqual([request.intent.to, 1000n, 31_337]);
  const signature = outcome.ok ? outcome.signatures[0] : undefined;
  if (signature === undefined || 'bytes' in signature) throw new Error('unreachable');
  // The signature has a low s, as EIP-2 demands: every chain refuses the high s.
  expect(BigInt(`0x${bytesToHex(signature.s)}`) <= HALF_ORDER).toBe(true);
});

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

test('one unreachable co-signer does not prevent a signature', async () => {
  const unreachable = cosignerClient(party(1), { origin: 'http://127.0.0.1:1', coordinatorSecret: null });
  expect((await thresholdSign([unreachable, ...cosigners.some(2, 3)], approvedTransfer({ key }))).ok).toBe(true);
  const available = () => availableHolders(cosigners.all, key).map(({ index }) => index);
  expect(available()).toEqual([2, 3]);
  await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }));
  expect(available()).toEqual([1, 2, 3]);
});

test('a key with threshold three is used by three co-signers, and not by two', async () => {
  const governedBy = inVault(9, { ...policy, signingThreshold: 3 });
  const strict = await newKey(cosigners.all, { governedBy });
  const policies = [founded(governedBy)];
  const request = { ...approvedTransfer({ key: strict, governedBy }), policies };
  const raw = signed(await thresholdSign(cosigners.all, request), request);
  const payer = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` });
  expect(payer).toBe(strict.addresses['anvil']);
  const lower = { ...request, policies: [founded({ ...governedBy, signingThreshold: 2 })] };
  expect((await thresholdSign(cosigners.some(1, 2), lower)).ok).toBe(false);
});

test('a repeated request gets a signature over the same bytes, because the first reply may be lost', async () => {
  const request = approvedTransfer({ key });
  const [first, second] = [await thresholdSign(cosigners.all, request), await thresholdSign(cosigners.all, request)];
  const [one, two] = [
    parseTransaction(signed(first, request) as `0x02${string}`),
    parseTransaction(signed(second, request) as `0x02${string}`),
  ];
  const unsigned = ({ to, value, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, chainId }: typeof one) => [
    to,
    value,
    nonce,
    gas,
    maxFeePerGas,
    maxPriorityFeePerGas,
    chainId,
  ];
  expect(unsigned(two)).toEqual(unsigned(one));
});

test('no co-signer signs without enough approvals of exactly this intent', async () => {
  const good = approvedTransfer({ key });
  const { digest } = good.transaction;
  const other = approvedTransfer({ key, to: '0x3333333333333333333333333333333333333333' }).transaction.digest;
  const cases = [
    [],
    [approvalBy(alice, digest)],
    [approvalBy(alice, digest), approvalBy(alice, digest)],
    [approvalBy(alice, digest), approvalBy(mallory, digest)],
    [approvalBy(alice, digest), approvalBy(bob, other)],
  ];
  for (const approvals of cases) await refusedByAll(cosigners, { ...good, approvals }, 'not-enough-approvals');
});

test('no co-signer signs bytes that do something else than the approved intent', async () => {
  const good = approvedTransfer({ key });
  const swap = (change: Partial<ApprovedTransfer['intent']>) => attemptOf({ ...good.intent, ...change });
  const dear = attemptOf({ ...good.intent, maxFee: amount('9'.repeat(40)) }, { maxFeePerGas: 10n ** 24n });
  const cases = [
    swap({ to: '0x3333333333333333333333333333333333333333' }),
    swap({ amount: amount('1001') }),
    swap({ tokenAddress: '0x3333333333333333333333333333333333333333' }),
    { ...good.attempt, payload: `${good.attempt.payload}00` },
    { ...good.attempt, payload: good.attempt.payload.replace('827a69', '820001') },
    { ...good.attempt, payload: good.attempt.payload.slice(0, -2) },
    { ...good.attempt, payload: '0x' },
    dear,
  ];
  for (const attempt of cases) await refusedByAll(cosigners, { ...good, attempt }, 'payload-refused');
});

test('an intent that was changed after the approvals is refused', async () => {
  const good = approvedTransfer({ key });
  const createdAtMs = good.intent.createdAtMs - 1;
  for (const change of [{ to: '0x3333333333333333333333333333333333333333' }, { note: 'urgent' }, { createdAtMs }]) {
    const intent = { ...good.intent, ...change };
    const attempt = attemptOf(intent);
    await refusedByAll(cosigners, { ...good, intent, attempt }, 'not-enough-approvals');
  }
});

test('an approval does not count for another vault, wallet or policy, or after its validity', async () => {
  const good = approvedTransfer({ key });
  const otherKey = await newKey(cosigners.all);
  const elsewhere = approvedTransfer({ key: otherKey });
  await refusedByAll(cosigners, { ...elsewhere, key }, 'wrong-wallet');
  await refusedByAll(cosigners, { ...good, intent: { ...good.intent, policyVersion: 2 } }, 'policy-mismatch');
  await refusedByAll(
    cosigners,
    { ...good, intent: { ...good.intent, policyHash: '11'.repeat(32) } },
    'policy-mismatch',
  );
  const longAgo = Date.now() - 3 * 24 * 60 * 60 * 1000;
  await refusedByAll(cosigners, approvedTransfer({ key, createdAtMs: longAgo }), 'expired');
});

test('a second digest for one transaction is refused by co-signers with a record of the first', async () => {
  const request = approvedTransfer({ key });
  expect((await thresholdSign(cosigners.all, request)).ok).toBe(true);
  await cosigners.restart();
  const again = { ...request, attempt: attemptOf(request.intent) };
  for (const pair of [
    [1, 2],
    [1, 3],
    [2, 3],
  ]) {
    const outcome = await thresholdSign(cosigners.some(...pair), again);
    expect([pair, outcome.ok, outcome.ok ? '' : outcome.reason]).toEqual([
      pair,
      false,
      expect.stringContaining('second-digest'),
    ]);
  }
});

test('a replacement is the same intent at the same nonce with fees at least a tenth higher', async () => {
  const request = approvedTransfer({ key, nonce: 500n });
  expect((await thresholdSign(cosigners.some(1, 2), request)).ok).toBe(true);
  const attempt = (number: number, nonce: bigint, maxFeePerGas: bigint) => ({
    ...request,
    attempt: attemptOf(request.intent, { nonce, maxFeePerGas }, number),
  });
  const refused = [
    attempt(2, 501n, 3_000_000_000n),
    attempt(2, 500n, 2_100_000_000n),
    attempt(3, 500n, 3_000_000_000n),
  ];
  for (const one of refused) {
    const outcome = await thresholdSign(cosigners.some(1, 2), one);
    expect(outcome.ok ? '' : outcome.reason).toContain('second-digest');
  }
  expect((await thresholdSign(cosigners.some(1, 2), attempt(2, 500n, 2_200_000_000n))).ok).toBe(true);
});

test('a cancellation pays zero to the wallet at the nonce of the payment, and the payment is then never signed again', async () => {
  const request = approvedTransfer({ key, nonce: 550n });
  expect((await thresholdSign(cosigners.some(1, 2), request)).ok).toBe(true);
  const attempt = (number: number, purpose: AttemptPurpose, maxFeePerGas: bigint) => ({
    ...request,
    attempt: { ...attemptOf(actionOfAttempt(request.intent, purpose), { nonce: 550n, maxFeePerGas }, number), purpose },
  });
  const cancelled = attempt(2, 'cancellation', 2_200_000_000n);
  const outcome = await thresholdSign(cosigners.some(1, 2), cancelled);
  const raw = outcome.ok
    ? anvilRules.assemble(actionOfAttempt(request.intent, 'cancellation'), cancelled.attempt, outcome.signatures)
    : null;
  const from = key.addresses['anvil'] ?? '';
  // viem omits values that are zero or empty.
  expect(raw?.ok === true ? parseTransaction(raw.value.raw as Hex) : null).toMatchObject({
    to: from.toLowerCase(),
    nonce: 550,
    gas: 21_000n,
  });
  await cosigners.restart();
  const carriedOut = await thresholdSign(cosigners.some(1, 2), attempt(3, 'intent', 4_000_000_000n));
  expect(carriedOut.ok ? '' : carriedOut.reason).toContain('second-digest');
  expect((await thresholdSign(cosigners.some(1, 2), attempt(3, 'cancellation', 4_000_000_000n))).ok).toBe(true);
});

test('bytes that were signed for one transfer are not signed for another transfer with the same content', async () => {
  const first = approvedTransfer({ key, nonce: 600n });
  expect((await thresholdSign(cosigners.some(1, 2), first)).ok).toBe(true);
  const second = approvedTransfer({ key, nonce: 600n });
  expect(second.attempt.payload).toBe(first.attempt.payload);
  const outcome = await thresholdSign(cosigners.some(1, 2), second);
  expect(outcome.ok ? '' : outcome.reason).toContain('second-digest');
});

test('a message that the coordinator changes, drops, repeats or moves ends the session, and no co-signer is blamed for it', async () => {
  const tamperings: readonly ((passage: Passage) => void)[] = [
    ({ body }) => flipEnvelopes(body, 90),
    ({ body }) => flipEnvelopes(body, 40),
    ({ body }) => flipEnvelopes(body, 0),
    ({ body }) => Object.assign(body as object, { envelopes: {} }),
    ({ body }) => Object.assign(body as object, { sid: '00'.repeat(32) }),
    ({ body }) => Object.assign(body as object, { round: (body as { round: number }).round + 1 }),
  ];
  for (const [i, tamper] of tamperings.entries()) {
    let done = false;
    cosigners.watch((passage) => {
      if (done || !passage.path.endsWith('/round') || passage.cosigner !== 2) return;
      done = true;
      tamper(passage);
    });
    const outcome = await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }));
    expect([i, done, outcome.ok]).toEqual([i, true, false]);
    cosigners.watch(() => {});
    // A coordinator must not be able to separate two honest co-signers by a forged message.
    expect([i, (await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }))).ok]).toEqual([i, true]);
  }
});

/** Changes one byte of each envelope in a round's body. */
function flipEnvelopes(body: unknown, path: number): void {
  const { envelopes } = body as { envelopes: Record<string, Uint8Array> };
  for (const envelope of Object.values(envelopes)) envelope[path] = (envelope[path] ?? 0) ^ 1;
}

test('a power failure between two rounds ends the session, and the next session signs the same digest', async () => {
  for (const at of ['start', 'round']) {
    const request = approvedTransfer({ key });
    let cut = false;
    cosigners.watch(async (passage) => {
      if (cut || !passage.path.endsWith(`/${at}`) || passage.cosigner !== 2) return;
      cut = true;
      await cosigners.restart();
    });
    const outcome = await thresholdSign(cosigners.some(1, 2), request);
    expect([at, cut, outcome.ok]).toEqual([at, true, false]);
    cosigners.watch(() => {});
    expect([at, (await thresholdSign(cosigners.some(1, 2), request)).ok]).toEqual([at, true]);
  }
});

test('a round that has been answered is not run again', async () => {
  const rounds: Passage[] = [];
  cosigners.watch((passage) => {
    if (passage.path.endsWith('/round')) rounds.push(structuredClone(passage));
  });
  expect((await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }))).ok).toBe(true);
  cosigners.watch(() => {});
  const [second, , third] = rounds
    .filter(({ cosigner }) => cosigner === rounds[0]?.cosigner)
    .concat(rounds.filter(({ cosigner }) => cosigner !== rounds[0]?.cosigner));
  const cosigner = present(cosigners.all.find(({ index }) => index === second?.cosigner));
  // The round before the last cannot be run again, because its state is used up.
  const replayed = await cosigner.call(present(second).path, present(second).body);
  expect(replayed.ok ? '' : replayed.refusal.code).toBe('session-over');
  expect(third).toBeDefined();
});

test('a co-signer adopts only the policy that follows its own, and then counts approvals by that policy', async () => {
  const { keyId } = key;
  const cosigner = present(cosigners.all[0]);
  const skip = { ...policy, version: 3, threshold: 1, previousHash: '22'.repeat(32) };
  const forged = { ...policy, version: 2, threshold: 1, previousHash: '22'.repeat(32) };
  const rewritten = { ...policy, signers: [alice.userId, bob.userId, carol.userId, mallory.userId] };
  const named = {
    ...policy,
    version: 2,
    previousHash: policyHashOf(policy),
    rules: { ...NO_RULES, unreadableThreshold: 2 },
  };
  const adopt = async (next: Policy, approvers: readonly Actor[]) => {
    const terms = { id: newPolicyChangeId(NOON_MS, new Uint8Array(10)), note: null };
    const mandate = { ...terms, createdAtMs: NOON_MS, expiresAtMs: Date.now() + 3_600_000 };
    const digest = bytesToHex(sha256(mandateBytes(mandate, policyHashOf(next))));
    const approvals = approvers.map((actor) => ({ actor, digest, device: null, atMs: NOON_MS }));
    const adopting = { policy: next, mandate: { ...mandate, policy: next, approvals } };
    return (await shownTo([cosigner], adopting, cosigners.all))[0];
  };
  for (const one of [skip, forged, rewritten]) expect(await adopt(one, [alice, bob])).toBe('policy-mismatch');
  for (const approvers of [[], [alice], [alice, mallory]])
    expect(await adopt(named, approvers)).toBe('policy-mismatch');
  expect(await shownTo([cosigner], founded(named), cosigners.all)).toEqual(['policy-mismatch']);
  const behind = await cosigner.call(
    `key/${keyId}/open`,
    opening({
      ...openBody(approvedTransfer({ key }), [1, 2]),
      request: { ...openBody(approvedTransfer({ key }), [1, 2]).request, policyVersion: 2 },
    }),
  );
  expect(behind.ok ? '' : behind.refusal.code).toBe('policy-behind');
  expect([await adopt(named, [alice, bob]), await adopt(named, [])]).toEqual(['adopted', 'adopted']);
  const current = await cosigner.call(
    `key/${keyId}/open`,
    opening({
      ...openBody(approvedTransfer({ key }), [1, 2]),
      request: { ...openBody(approvedTransfer({ key }), [1, 2]).request, policyVersion: 2 },
    }),
  );
  expect(current.ok).toBe(true);
});

test.each([
  ['key/nothing/open', {}],
  ['pair/9/open', {}],
  ['keygen/xyz/open', {}],
  ['nothing', {}],
])('a request to the path %s is refused as malformed', async (path, body) => {
  const answer = await present(cosigners.all[0]).call(path, body);
  expect(answer.ok ? '' : answer.refusal.code).toBe('malformed');
});

test('a malformed request is refused before anything else is checked', async () => {
  const cosigner = present(cosigners.all[0]);
  const good = openBody(approvedTransfer({ key }), [1, 2]);
  const bad: readonly unknown[] = [
    [],
    {},
    { ...good, extra: 1 },
    { ...good, signers: [2, 1] },
    { ...good, signers: [1, 1] },
    { ...good, signers: [2, 3] },
    { ...good, signers: [1, 4] },
    { ...good, signers: '12' },
    { ...good, request: { ...good.request, payload: 7 } },
    { ...good, request: { ...good.request, attempt: -1 } },
    { ...good, request: { ...good.request, attempt: 1.5 } },
    { ...good, request: { ...good.request, approvals: [{}] } },
    { ...good, request: { ...good.request, approvals: Array.from({ length: 101 }, () => good.request.approvals[0]) } },
    { ...good, request: { ...good.request, intent: approvedTransfer({ key }).intent } },
    { ...good, request: { ...good.request, intent: good.request.intent.toUpperCase() } },
    { ...good, request: { ...good.request, intent: `${good.request.intent}00` } },
    { ...good, request: { ...good.request, intent: good.request.intent.slice(0, -2) } },
  ];
  for (const [i, body] of bad.entries()) {
    const answer = await cosigner.call(`key/${key.keyId}/open`, opening(body));
    expect([i, answer.ok ? '' : answer.refusal.code]).toEqual([i, 'malformed']);
  }
  // Only the sessions that sign for a transaction open without their request.
  for (const ref of [`proof/${key.keyId}`, `reshare/${key.keyId}`, 'pair/2', `keygen/${'a'.repeat(32)}`, 'vault/1']) {
    const answer = await cosigner.call(`${ref}/open`, opening(null));
    expect([ref, answer.ok ? '' : answer.refusal.code]).toEqual([ref, 'malformed']);
  }
  const { protocol, request } = opening(good);
  for (const body of [null, good, request, { protocol }, { request }, { protocol, request, extra: 1 }]) {
    const answer = await cosigner.call(`key/${key.keyId}/open`, body);
    expect(answer.ok ? '' : answer.refusal.code).toBe('malformed');
  }
  for (const odd of [7, '', protocol?.toUpperCase(), `${protocol}00`]) {
    const answer = await cosigner.call(`key/${key.keyId}/open`, { protocol: odd, request });
    expect(answer.ok ? '' : answer.refusal.code).toBe('malformed');
  }
});
