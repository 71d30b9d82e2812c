import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { requestThroughWindow } from '#dashboard/approval/approval-popup.ts';
import { NotSigned } from '#dashboard/approval/not-signed.ts';
import type { EnrolmentRequest } from '#domain/access/approval-page-message.ts';
import { APPROVAL_PROTOCOL, pageReadyMessage } from '#domain/access/approval-page-message.ts';

const ORIGIN = 'https://approve.example';
const request: EnrolmentRequest = {
  type: 'conclave/approval/enrolment',
  version: APPROVAL_PROTOCOL,
  requestId: 'e3b0c442-98fc-4c14-9afb-f4c8996fb924',
  userId: 'usr_1',
  userName: 'alice',
  credentialIds: [],
};
const answer = {
  type: 'conclave/approval/answer',
  version: APPROVAL_PROTOCOL,
  requestId: request.requestId,
  keyId: 'k',
  signature: 's',
  authenticatorData: 'a',
  clientDataJSON: 'c',
} as const;

let deliver: (event: { readonly origin: string; readonly source: unknown; readonly data: unknown }) => void;

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('addEventListener', (_type: string, listener: typeof deliver) => (deliver = listener));
  vi.stubGlobal('removeEventListener', () => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A window of the approval page that has received its request. */
async function openWindow() {
  const page = { closed: false, postMessage: vi.fn(), close: vi.fn() };
  const outcome = requestThroughWindow({ page: page as unknown as Window, origin: ORIGIN }, async () => request);
  const say = (data: unknown) => deliver({ origin: ORIGIN, source: page, data });
  say(pageReadyMessage('5a'.repeat(32)));
  await vi.advanceTimersByTimeAsync(0);
  expect(page.postMessage).toHaveBeenCalledWith(request, ORIGIN);
  return { page, outcome, say };
}

test('an answer is accepted even if it arrives after its window has closed', async () => {
  const { page, outcome, say } = await openWindow();
  page.closed = true;
  await vi.advanceTimersByTimeAsync(1_500);
  say(answer);
  expect(await outcome).toEqual(answer);
});

test('closing the window without an answer ends the request', async () => {
  const { page, outcome } = await openWindow();
  page.closed = true;
  const refused = expect(outcome).rejects.toThrow(NotSigned);
  await vi.advanceTimersByTimeAsync(3_500);
  await refused;
});
