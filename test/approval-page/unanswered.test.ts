import { expect, test } from 'vitest';
import type { ReceivedRequest } from '#approval-page/page-request.ts';
import { comparedWithUnanswered } from '#approval-page/arrival/unanswered.ts';
import type { EnrolmentRequest, PolicyViewRequest } from '#domain/access/approval-page-message.ts';
import { ALICE, BOB, NONCE, policyOf, requestOf, THIEF, transferOf } from './request-scene.ts';

const policy = policyOf();
const PAYMENT = requestOf(policy, transferOf(policy));
const THEFT = requestOf(policy, transferOf(policy, { to: THIEF }));
const ENROLMENT: EnrolmentRequest = {
  type: 'conclave/approval/enrolment',
  version: 1,
  requestId: 'request-1',
  userId: ALICE,
  userName: 'alice',
  credentialIds: [],
};
const VIEW: PolicyViewRequest = {
  type: 'conclave/approval/policy-view',
  version: 1,
  requestId: 'request-1',
  policy: PAYMENT.policy,
  keys: [],
  statements: [],
  cosigners: [],
};
const SIGNATURE = { signature: '', authenticatorData: '', clientDataJSON: '' };
const ANSWER = {
  type: 'conclave/approval/answer',
  version: 1,
  requestId: 'request-1',
  keyId: '',
  ...SIGNATURE,
} as const;

/** Returns a window that loads the page again and again, and the calls that reach its dashboard. */
function newWindow(way: ReceivedRequest['way'] = 'window') {
  const [kept, calls] = [new Map<string, string>(), [] as string[]];
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  const load = (request: ReceivedRequest['request']) => {
    const answer = ({ type }: { readonly type: string }) => void calls.push(type);
    const leave = () => void calls.push('left');
    return comparedWithUnanswered(
      { dashboard: 'https://vaults.example.com', way, nonce: NONCE, request, answer, leave },
      storage,
    );
  };
  return { load, kept, calls };
}

test('another request replaces the one before until the person acknowledges it, however often it is loaded', () => {
  const { load } = newWindow();
  expect(load(PAYMENT).replacesUnanswered).toBe(false);
  for (const _load of [1, 2]) expect(load(THEFT).replacesUnanswered).toBe(true);
  expect(load(PAYMENT).replacesUnanswered).toBe(false);
  load(THEFT).acknowledge();
  expect(load(THEFT).replacesUnanswered).toBe(false);
  expect(load(PAYMENT).replacesUnanswered).toBe(true);
});

test('the same subject with another id, nonce or statements is the same request', () => {
  const { load } = newWindow();
  load(PAYMENT);
  const again = { ...PAYMENT, requestId: 'request-2', statements: [], remarks: [{ label: 'Created by', text: 'bob' }] };
  expect(load(again).replacesUnanswered).toBe(false);
  expect(load({ ...PAYMENT, userId: BOB }).replacesUnanswered).toBe(true);
});

test('an enrolment differs from a payment, and from an enrolment for another person or name', () => {
  const others = [{ userId: BOB }, { userName: 'bob' }, { credentialIds: ['AAAA'] }];
  for (const other of [PAYMENT, ...others.map((change) => ({ ...ENROLMENT, ...change }))]) {
    const { load } = newWindow();
    load(ENROLMENT);
    expect(load(other).replacesUnanswered).toBe(true);
  }
});

test('a policy that is read between two requests does not hide that the second one is another', () => {
  const { load, calls } = newWindow();
  load(PAYMENT);
  const view = load(VIEW);
  expect(view.replacesUnanswered).toBe(false);
  view.leave();
  expect(calls).toEqual(['left']);
  expect(load(THEFT).replacesUnanswered).toBe(true);
});

test('an answer and leaving end a request, and reach the dashboard', () => {
  for (const end of ['answer', 'leave'] as const) {
    const { load, kept, calls } = newWindow();
    const shown = load(PAYMENT);
    if (end === 'answer') shown.answer(ANSWER);
    else shown.leave();
    expect(kept.size).toBe(0);
    expect(calls).toEqual([end === 'answer' ? ANSWER.type : 'left']);
    expect(load(THEFT).replacesUnanswered).toBe(false);
  }
});

test('a new passkey in a window of its own stays unanswered until the person leaves', () => {
  const device = {
    userId: ALICE,
    algorithm: 'webauthn-p256',
    publicKey: '',
    credentialId: '',
    rpId: '',
    origin: '',
  } as const;
  const frame = { type: 'conclave/approval/enrolled', version: 1, requestId: 'request-1' } as const;
  const enrolled = { ...frame, device: { ...device, proof: SIGNATURE } };
  const own = newWindow();
  const shown = own.load(ENROLMENT);
  shown.answer(enrolled);
  expect(own.load(THEFT).replacesUnanswered).toBe(true);
  shown.leave();
  expect(own.load(THEFT).replacesUnanswered).toBe(false);
  const redirected = newWindow('redirect');
  redirected.load(ENROLMENT).answer(enrolled);
  expect(redirected.load(THEFT).replacesUnanswered).toBe(false);
});

test('the window stores a hash of the subject and nothing else', () => {
  const { load, kept } = newWindow();
  load(PAYMENT);
  expect([...kept.values()]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  expect([...kept.values()].join()).not.toContain(PAYMENT.canonical.slice(0, 64));
});
