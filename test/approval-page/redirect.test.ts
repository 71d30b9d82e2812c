import { expect, test } from 'vitest';
import { InvalidRequest } from '#review/invalid-request.ts';
import { requestFromRedirect } from '#approval-page/arrival/redirect.ts';
import type { RedirectRequest } from '#domain/access/approval-redirect.ts';
import {
  parseRedirectRequest,
  requestUrl,
  resultTargetUrl,
  parseRedirectResult,
} from '#domain/access/approval-redirect.ts';
import { nonceOfPageReady } from '#domain/access/approval-page-message.ts';
import { NONCE, policyOf, requestOf, transferOf } from './request-scene.ts';

const PAGE = 'https://approve.example.com';
const DASHBOARD = 'https://vaults.example.com';
const OTHER = 'https://vaults.example.org';
const policy = policyOf();
const request = requestOf(policy, transferOf(policy));
const { requestId } = request;

/** Returns a tab of the approval page that records the addresses it navigates to. */
function newTab(allowed: readonly string[] = [DASHBOARD]) {
  const [kept, gone] = [new Map<string, string>(), [] as string[]];
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  return { storage, allowed, nonce: NONCE, go: (address: string) => void gone.push(address), gone, kept };
}

const called = (tab: ReturnType<typeof newTab>, arrival: Partial<RedirectRequest> = {}) => {
  void requestFromRedirect({ dashboard: DASHBOARD, requestId, request: null, ...arrival }, tab);
};
const arrived = (changes: Partial<RedirectRequest> = {}): RedirectRequest => ({
  dashboard: DASHBOARD,
  requestId,
  request,
  ...changes,
});

function arrivalIn(address: string | null): RedirectRequest {
  const arrival = parseRedirectRequest(new URL(address ?? '').hash);
  if (arrival === null) throw new Error('there is no arrival');
  return arrival;
}

test('a request whose opener holds the nonce is shown to the signer', async () => {
  const tab = newTab();
  void requestFromRedirect(arrivalIn(requestUrl(PAGE, { dashboard: DASHBOARD, requestId })), tab);
  const [hello = ''] = tab.gone;
  expect(hello.startsWith(`${DASHBOARD}/#/approval/`)).toBe(true);
  const returned = parseRedirectResult(new URL(hello).hash);
  expect(returned?.requestId).toBe(requestId);
  expect(nonceOfPageReady(returned?.message)).toBe(NONCE);
  const response = await requestFromRedirect(arrivalIn(resultTargetUrl(PAGE, { dashboard: DASHBOARD, request })), tab);
  expect(response).toMatchObject({ dashboard: DASHBOARD, way: 'redirect', nonce: NONCE, request });
});

test('the answer is sent to the dashboard that received the nonce', async () => {
  const tab = newTab([DASHBOARD, OTHER]);
  called(tab);
  const response = await requestFromRedirect(arrived(), tab);
  const proof = { keyId: 'k', signature: 's', authenticatorData: 'a', clientDataJSON: 'c' };
  const answer = { type: 'conclave/approval/answer', version: 1, requestId, ...proof } as const;
  response.answer(answer);
  response.leave();
  const [, signed = '', left = ''] = tab.gone;
  expect([signed, left].map((address) => new URL(address).origin)).toEqual([DASHBOARD, DASHBOARD]);
  expect(parseRedirectResult(new URL(signed).hash)).toEqual({ requestId, message: answer });
  expect(parseRedirectResult(new URL(left).hash)?.message).toMatchObject({
    type: 'conclave/approval/declined',
    requestId,
  });
});

test('a dashboard origin that is not configured receives neither a nonce nor an answer', async () => {
  const lists = [[], [OTHER], [`${DASHBOARD}/`], [`${DASHBOARD}.evil.example`], ['https://vaults.example']];
  for (const allowed of lists) {
    const tab = newTab(allowed);
    for (const arrival of [arrived({ request: null }), arrived()]) {
      const fault = requestFromRedirect(arrival, tab).then(
        () => 'asked',
        (error: unknown) => error,
      );
      // The promise of an answered call never settles, because the tab navigates away.
      const waits = new Promise((resolve) => void setImmediate(() => resolve('called')));
      expect(await Promise.race([fault, waits])).toBeInstanceOf(InvalidRequest);
    }
    expect([tab.gone, [...tab.kept]]).toEqual([[], []]);
  }
});

test('a request from a dashboard that did not start it is not shown to the signer', async () => {
  const other = { ...request, requestId: 'request-2' };
  const attempts: ((tab: ReturnType<typeof newTab>) => RedirectRequest)[] = [
    () => arrived(),
    (tab) => {
      called(tab, { requestId: 'request-2' });
      return arrived();
    },
    (tab) => {
      called(tab, { dashboard: OTHER });
      return arrived();
    },
    (tab) => {
      called(tab);
      return arrived({ request: other });
    },
    (tab) => {
      called(tab);
      return arrived({ request: { ...request, more: 1 } });
    },
  ];
  for (const attempt of attempts) {
    const tab = newTab([DASHBOARD, OTHER]);
    await expect(requestFromRedirect(attempt(tab), tab)).rejects.toThrow(InvalidRequest);
    // A refused request cannot be repeated with the same nonce.
    expect([...tab.kept]).toEqual([]);
  }
});

test('a nonce serves one request', async () => {
  const tab = newTab();
  called(tab);
  await requestFromRedirect(arrived(), tab);
  await expect(requestFromRedirect(arrived(), tab)).rejects.toThrow(/has already shown it/);
});

test('an address without redirect parameters starts no request', () => {
  const dashboard = encodeURIComponent(DASHBOARD);
  const fragments = ['', '#', `#dashboard=${dashboard}`, `#redirect=r`, `#dashboard=${dashboard}&redirect=a/b`];
  expect(fragments.map((fragment) => parseRedirectRequest(fragment))).toEqual(fragments.map(() => null));
  expect(parseRedirectRequest(`#dashboard=${dashboard}&redirect=r&request=%7B`)?.request).toBe('');
  expect([parseRedirectResult('#/approval-page'), parseRedirectResult('#/vault/1'), parseRedirectResult('')]).toEqual([
    null,
    null,
    null,
  ]);
  expect(parseRedirectResult('#/approval/r/%')?.message).toBe('');
});

test('a request that exceeds the length limit of browser addresses gets no address', () => {
  const addressOf = (bytes: number) =>
    resultTargetUrl(PAGE, { dashboard: DASHBOARD, request: { ...request, policy: '00'.repeat(bytes) } });
  expect(addressOf(40_000)?.length).toBeLessThan(100_000);
  expect(addressOf(50_000)).toBe(null);
});
