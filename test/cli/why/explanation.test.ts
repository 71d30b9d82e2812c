import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Progress } from '../../../cli/why/explanation.ts';
import { explanationOf } from '../../../cli/why/explanation.ts';
import { REASONS } from '../../../cli/why/reasons.ts';
import { alert, cosigner, GOOD, node } from '../good-status.ts';

/** Covers what `why` states of a transaction, by its progress and the status of the service. */

const NOW_MS = Date.parse('2026-11-30T10:00:00Z');

const SIGNING: Progress = {
  id: 'TX',
  vaultId: 5,
  chain: 'anvil',
  state: 'SIGNING',
  stateReason: 'SIGNER_UNAVAILABLE',
  stateDetail: null,
  createdAt: '2026-11-30T09:00:00Z',
  updatedAt: '2026-11-30T09:48:00Z',
  approvals: { count: 2, required: 2 },
  waitsFor: null,
  job: 'sign',
  queued: { dueAt: '2026-11-30T10:00:30Z', tries: 7 },
  attempts: 0,
  newestAttempt: null,
  inclusion: null,
};
const BROADCAST: Progress = {
  ...SIGNING,
  state: 'BROADCAST',
  stateReason: null,
  job: 'confirm',
  queued: { dueAt: '2026-11-30T10:00:05Z', tries: 0 },
  attempts: 2,
  newestAttempt: { number: 2, purpose: 'intent', hash: '0xaa', outcome: 'accepted', sentAt: '2026-11-30T09:59:00Z' },
};
const linesOf = (progress: Partial<Progress>, status = GOOD) =>
  explanationOf({ ...SIGNING, ...progress }, status, NOW_MS);

test('a payment that co-signers do not sign names them, and the next try', () => {
  const misconfigured = { ...cosigner(2), fault: 'misconfigured', setting: 'PEERS' };
  const unreadable = {
    ...cosigner(3),
    testedKeys: [{ keyId: 'k', epoch: 1, madeAt: null, fault: 'unreadable' as const }],
  };
  const attention = [
    alert('cosigner-away:2', 'cosigner-away'),
    alert('rpc-node-away:base host', 'rpc-node-away'),
    alert('recovery-outdated', 'recovery-outdated'),
  ];
  const chains = [...GOOD.chains, { name: 'base', fault: null, nodes: [node('b.test')] }];
  expect(linesOf({}, { ...GOOD, chains, attention, cosigners: [cosigner(1), misconfigured, unreadable] })).toEqual([
    'Transaction TX of vault 5 on anvil is SIGNING (SIGNER_UNAVAILABLE) since 2026-11-30T09:48:00Z, 12 minutes ago.',
    'Too few co-signers answered, or a receipt is missing. Check the co-signers.',
    'No attempt was prepared yet.',
    'Its next job is sign, at 2026-11-30T10:00:30Z. It was sent 7 times without an effect.',
    'Co-signer 2 is unavailable: misconfigured, PEERS.',
    'Co-signer 3 cannot use a share: unreadable.',
    'RPC node a.test answered at 2026-11-30T09:45:00Z, with block 1.',
    'RPC node b.test answered at 2026-11-30T09:45:00Z, with block 1.',
    'Open alert cosigner-away:2: docs/runbook.md#cosigner-away',
  ]);
});

test('a payment in the network names its newest bytes and the RPC nodes of its chain', () => {
  const nodes = [{ ...node('a.test'), ok: false, fault: 'unusable' as const, error: 'HTTP 503' }, node('b.test', null)];
  expect(linesOf(BROADCAST, { ...GOOD, chains: [{ name: 'anvil', fault: null, nodes }] }).slice(1)).toEqual([
    'Attempt 2 of 2 (0xaa) was sent last 60 seconds ago, with the outcome accepted.',
    'Its next job is confirm, at 2026-11-30T10:00:05Z. It was not sent since the last change.',
    'RPC node a.test at 2026-11-30T09:45:00Z: unusable, HTTP 503.',
    'RPC node b.test was not checked yet.',
  ]);
  expect(linesOf(BROADCAST, { ...GOOD, chains: [] })).toContain('RPC_URLS has no RPC node of anvil.');
});

test('a payment in a block names its depth and the second RPC node', () => {
  const inclusion = { blockNumber: '7', confirmations: 2, required: 12, secondNode: 'away' as const, finalized: false };
  const lines = linesOf({ ...BROADCAST, state: 'CONFIRMING', stateReason: 'SECOND_NODE_AWAY', inclusion });
  expect(lines).toContain('Block 7 has it, with 2 of 12 confirmations. A reorg can still remove the block.');
  expect(lines).toContain('The second RPC node: away.');
});

test('a payment that waits for people names no part of the service', () => {
  const queued = { dueAt: '2026-12-07T09:00:00Z', tries: 0 };
  const lines = linesOf({
    state: 'SUBMITTED',
    stateReason: null,
    job: 'expire',
    queued,
    approvals: { count: 1, required: 2 },
  });
  expect(lines.slice(1)).toEqual(['It has 1 of 2 approvals. Signers decide.', 'It expires at 2026-12-07T09:00:00Z.']);
});

test('a job that is lost, overdue or in a queue without a consumer is a fault', () => {
  expect(linesOf({ queued: null })).toContain(
    'Fault: its state requires the job sign, and the vault has not stored it.',
  );
  expect(linesOf({ queued: { dueAt: '2026-11-30T09:54:00Z', tries: 0 } })).toContain(
    'Fault: its job sign is overdue since 2026-11-30T09:54:00Z. It was not sent since the last change.',
  );
  const queues = [{ queue: 'signing' as const, openSince: '2026-11-30T09:50:00Z', returnedAt: null }];
  expect(linesOf({}, { ...GOOD, queues })).toContain(
    'A test message waits in the queue signing since 2026-11-30T09:50:00Z.',
  );
});

test('a transaction that is over waits for nothing', () => {
  const over = { ...BROADCAST, state: 'REJECTED', stateReason: 'REJECTED_BY_SIGNER', job: null, queued: null } as const;
  expect(linesOf({ ...over, attempts: 0, newestAttempt: null })).toEqual([
    'Transaction TX of vault 5 on anvil is REJECTED (REJECTED_BY_SIGNER) since 2026-11-30T09:48:00Z, 12 minutes ago.',
    'It waits for nothing.',
    'See docs/api.md#state-reasons.',
  ]);
});

test('each reason of a transaction that is not finished has a sentence', () => {
  const text = readFileSync('docs/api.md', 'utf8');
  const [, open = ''] = text.split('### In SIGNING\n');
  const [section = ''] = open.split('### Final states\n');
  const listed = [...section.matchAll(/^- ((?:`[A-Z_]+`(?:, )?)+):/gm)].flatMap(
    ([, names = '']) => names.match(/[A-Z_]+/g) ?? [],
  );
  expect(listed.length).toBeGreaterThan(20);
  expect([...REASONS.keys()].toSorted()).toEqual([...new Set(listed)].toSorted());
});
