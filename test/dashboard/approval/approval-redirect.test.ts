import { expect, test } from 'vitest';
import { store, takeRedirectResult } from '#dashboard/forms/signing-task.ts';
import { APPROVAL_PROTOCOL, pageReadyMessage } from '#domain/access/approval-page-message.ts';
import type { ReadRedirectResult } from '#domain/access/approval-redirect.ts';
import { resultUrl } from '#domain/access/approval-redirect.ts';

const requestId = 'e3b0c442-98fc-4c14-9afb-f4c8996fb924';
const PAGE = 'https://approve.example.org';
const nonce = '5a'.repeat(32);
const path = '#/transaction/7.01J00000000000000000000002';
const task = { kind: 'transaction', txId: '7.01J00000000000000000000002' } as const;
const hello = pageReadyMessage(nonce);
const answer = {
  type: 'conclave/approval/answer',
  version: APPROVAL_PROTOCOL,
  requestId,
  keyId: 'k',
  signature: 's',
  authenticatorData: 'a',
  clientDataJSON: 'c',
} as const;

/** A tab that waits for an approval, and the addresses that its address bar has shown. */
function tabThatAwaits(awaits: 'nonce' | 'answer' | null) {
  const [kept, shown] = [new Map<string, string>(), [] as string[]];
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  if (awaits !== null) store(storage, { requestId, path, awaits, page: PAGE, task });
  const back = (message: ReadRedirectResult, id = requestId) => {
    const fragment = new URL(resultUrl('https://vaults.example.com', { requestId: id, message })).hash;
    return takeRedirectResult({ storage, fragment, show: (to) => void shown.push(to) });
  };
  return { back, shown, storage };
}

test('the nonce of the page is accepted first and its answer second, once each', () => {
  const { back, shown } = tabThatAwaits('nonce');
  expect(back(hello)).toEqual({ kind: 'nonce', nonce, requestId, page: PAGE, task });
  expect(back(answer)).toEqual({ kind: 'answer', answer, task });
  expect(back(answer)).toMatchObject({ kind: 'fault' });
  expect(shown).toEqual([path, path, '#/']);
});

test('a policy view ends without an answer, and every answer to it is a fault', () => {
  const view = { kind: 'policy-view', vaultId: '7' } as const;
  const decline = { type: 'conclave/approval/declined', version: APPROVAL_PROTOCOL, requestId } as const;
  const { back, shown, storage } = tabThatAwaits(null);
  const waiting = { requestId, path, page: PAGE, task: view };
  store(storage, { ...waiting, awaits: 'nonce' });
  expect(back(hello)).toEqual({ kind: 'nonce', nonce, requestId, page: PAGE, task: view });
  expect(back(decline)).toBe(null);
  expect(shown).toEqual([path, path]);
  store(storage, { ...waiting, awaits: 'answer' });
  expect(back(answer)).toMatchObject({ kind: 'fault' });
});

test('an answer that the tab did not request is ignored, and is removed from the address bar', () => {
  const other = 'e3b0c442-98fc-4c14-9afb-f4c8996fb925';
  const enrolled = { ...answer, requestId: other };
  const attempts = [
    () => tabThatAwaits(null).back(answer),
    () => tabThatAwaits('answer').back(answer, other),
    () => tabThatAwaits('answer').back(enrolled),
    () => tabThatAwaits('answer').back(enrolled, other),
    () => tabThatAwaits('answer').back(hello),
    // The approval page has not called back, so no statement can name its nonce.
    () => tabThatAwaits('nonce').back(answer),
  ];
  expect(attempts.map((attempt) => attempt()?.kind)).toEqual(attempts.map(() => 'fault'));
  const { back, shown } = tabThatAwaits(null);
  back(answer);
  expect(shown).toEqual(['#/']);
});

test('a person who leaves the approval page without signing returns to the page before it', () => {
  const { back, shown } = tabThatAwaits('answer');
  const declined = { type: 'conclave/approval/declined', version: APPROVAL_PROTOCOL, requestId } as const;
  expect(back(declined)).toEqual({ kind: 'fault', why: 'The approval page was closed without a signature.' });
  expect(shown).toEqual([path]);
  expect(back(answer)).toMatchObject({ kind: 'fault' });
});

test('an address of any other page of the dashboard is not read as an answer', () => {
  const { storage } = tabThatAwaits('answer');
  const shown: string[] = [];
  const taken = takeRedirectResult({ storage, fragment: path, show: (to) => void shown.push(to) });
  expect([taken, shown]).toEqual([null, []]);
});

test('each task that waits for an approval is stored and read back unchanged', () => {
  const tasks = [
    task,
    { kind: 'policy-change', vaultId: '7', changeId: 'pch_01J00000000000000000000003' },
    { kind: 'policy-rejection', vaultId: '7', changeId: 'pch_01J00000000000000000000003' },
    { kind: 'policy-rejection', vaultId: '7', changeId: 'pch_01J00000000000000000000003', reason: 'Too “low” | 1' },
    { kind: 'enrolment', vaultId: '7' },
  ] as const;
  for (const one of tasks) {
    const { back, storage } = tabThatAwaits(null);
    store(storage, { requestId, path, awaits: 'answer', page: PAGE, task: one });
    expect(back(answer)).toEqual({ kind: 'answer', answer, task: one });
  }
});
