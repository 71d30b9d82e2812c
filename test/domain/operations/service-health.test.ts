import { expect, test } from 'vitest';
import type { Alert } from '#domain/operations/alert.ts';
import type { ServiceHealth } from '#domain/operations/service-health.ts';
import type { CosignerState } from '#domain/operations/cosigner.ts';
import { alertsOfCosigners } from '#domain/operations/cosigner.ts';
import { alertsOfRpcNodes, RPC_NODE_FAULTS } from '#domain/operations/rpc-node.ts';
import { ALERT_CODES_OF } from '#domain/operations/alert.ts';
import { alertsOfWork, STORE_BYTES } from '#domain/operations/service-health.ts';

const NOW_MS = Date.parse('2026-11-22T03:00:00Z');
const ago = (minutes: number) => NOW_MS - minutes * 60_000;

const IDLE = { open: 0, oldestDueAtMs: null, failed: 0, newestFailureAtMs: null };
const FINE: ServiceHealth = {
  outstanding: {},
  quietest: [],
  unexplained: [],
  deliveries: IDLE,
  hints: { endpoints: [], oldestUntriedAtMs: null },
  scans: IDLE,
  claims: [],
  monitors: [],
  unreported: { number: 0, oldestAtMs: null },
  deadLetters: 0,
  newestDeadLetterAtMs: null,
  vaults: 1,
  lastSweepAtMs: ago(1),
  longestUnsweptAtMs: ago(59),
  stores: [
    { store: 'D1', bytes: 0.69 * STORE_BYTES },
    { store: 'vault 1', bytes: 4096 },
  ],
  outdatedKeys: { number: 0, oldestSinceMs: null, longest: [] },
};
const quiet = (minutes: number) => ({
  id: 'tx',
  vaultId: 1,
  chain: 'anvil',
  state: 'BROADCAST',
  stateReason: null,
  updatedAtMs: ago(minutes),
});
const claim = (minutes: number) => ({
  chain: 'anvil',
  hash: '0xaa',
  host: 'node.test',
  firstAtMs: ago(minutes),
  lastAtMs: NOW_MS,
});
const unread = (...minutes: readonly number[]) => {
  const [unreadAtMs = null, , thirdUnreadAtMs = null] = minutes.map(ago);
  const counts = { unread: minutes.length, unreadKind: 'SWAP', unreadAtMs, thirdUnreadAtMs };
  return { endpointId: 'main', lastDeliveryAtMs: NOW_MS, ...counts };
};
const hints = (openParts: number, minutes: number) => ({
  endpoints: [{ endpointId: 'main', openParts }],
  oldestUntriedAtMs: ago(minutes),
});
const STATE = { fault: null, setting: null, banned: [], test: null };
const THERE: readonly CosignerState[] = [1, 2, 3].map((node) => ({
  ...STATE,
  node,
  recoveryKey: String(node).repeat(64),
}));
const alertsFor = (condition: ServiceHealth, cosigners: readonly CosignerState[], nowMs: number): readonly Alert[] => [
  ...alertsOfWork(condition, nowMs),
  ...alertsOfCosigners(cosigners),
];
const codes = (condition: Partial<ServiceHealth>, cosigners = THERE) =>
  alertsFor({ ...FINE, ...condition }, cosigners, NOW_MS).map(({ code }) => code);

test('no alert is raised while everything works', () => {
  expect(codes({})).toEqual([]);
  expect(codes({ hints: hints(399, 14) })).toEqual([]);
  expect(codes({ unreported: { number: 2, oldestAtMs: ago(14) } })).toEqual([]);
  expect(codes({ quietest: [quiet(59)], deliveries: { ...IDLE, open: 3, oldestDueAtMs: ago(14) } })).toEqual([]);
});

test.each<[string, Partial<ServiceHealth>]>([
  ['stuck-transactions', { quietest: [quiet(61), quiet(3)] }],
  ['late-deliveries', { deliveries: { ...IDLE, open: 1, oldestDueAtMs: ago(16) } }],
  ['failed-deliveries', { deliveries: { ...IDLE, failed: 1, newestFailureAtMs: ago(5) } }],
  ['waiting-hints', { hints: hints(400, 1) }],
  ['waiting-hints', { hints: hints(0, 16) }],
  ['late-scans', { scans: { ...IDLE, open: 1, oldestDueAtMs: ago(16) } }],
  ['failed-scans', { scans: { ...IDLE, failed: 1, newestFailureAtMs: ago(5) } }],
  ['monitor-unread', { monitors: [unread(5, 60, 1_439), unread(1)] }],
  ['monitor-silent', { unreported: { number: 2, oldestAtMs: ago(16) } }],
  ['unproven-claims', { claims: [claim(11), claim(3)] }],
  ['dead-letters', { deadLetters: 1, newestDeadLetterAtMs: ago(5) }],
  ['late-sweep', { longestUnsweptAtMs: ago(131) }],
  ['late-sweep', { lastSweepAtMs: ago(11) }],
  ['late-sweep', { lastSweepAtMs: null }],
  ['storage-filling', { stores: [{ store: 'vault 1', bytes: 0.71 * STORE_BYTES }] }],
])('a condition raises only the alert %s', (code, condition) => {
  expect(codes(condition)).toEqual([code]);
});

test('an unexplained transaction is reported sooner than a slow one, however many older ones are listed first', () => {
  const since = (stateReason: string, minutes: number) => ({ stateReason, number: 2, updatedAtMs: ago(minutes) });
  for (const stateReason of ['NONCE_USED_UNEXPLAINED', 'NODES_DISAGREE', 'SECOND_NODE_AWAY']) {
    expect(codes({ unexplained: [since(stateReason, 11)] })).toEqual(['unexplained-transactions']);
    expect(codes({ unexplained: [since(stateReason, 9)] })).toEqual([]);
  }
  expect(codes({ quietest: [{ ...quiet(11), stateReason: 'REBROADCASTING' }] })).toEqual([]);
  expect(codes({ unexplained: [since('COIN_UNKNOWN', 11)] })).toEqual(['unknown-coins']);
  expect(codes({ unexplained: [since('COIN_UNKNOWN', 9)] })).toEqual([]);
});

test('a failure of the day before yesterday is in the list and raises no alert', () => {
  expect(
    codes({
      deadLetters: 9,
      newestDeadLetterAtMs: ago(1441),
      deliveries: { ...IDLE, failed: 9, newestFailureAtMs: ago(1441) },
    }),
  ).toEqual([]);
});

test('unread deliveries raise an alert when there are three of one endpoint in a day', () => {
  expect(codes({ monitors: [unread(), unread(1), unread(1, 2), unread(5, 60, 1_441)] })).toEqual([]);
  const [alert] = alertsFor({ ...FINE, monitors: [unread(7, 8, 9), unread(3, 4, 5)] }, THERE, NOW_MS);
  expect(alert?.detail).toBe(
    'Endpoints with at least three unread deliveries in a day: 2. The newest is 3 minutes old.',
  );
});

test('the alert names an unreachable co-signer, and a co-signer that has caught another one cheating', () => {
  const [first, , third] = THERE;
  const cosigners = [
    first,
    { ...STATE, node: 2, fault: 'unreachable', recoveryKey: null },
    { ...third, banned: [2] },
  ] as CosignerState[];
  expect(alertsFor(FINE, cosigners, NOW_MS)).toEqual([
    { code: 'cosigner-away', subject: '2', detail: 'Co-signer 2 is unavailable: unreachable.' },
    { code: 'cosigner-banned', subject: '3', detail: 'Co-signer 3 has banned other co-signers: 2.' },
  ]);
});

test('the alerts name co-signers without a recovery key, and those that share one', () => {
  const [first, second, third] = THERE.map(({ recoveryKey }) => recoveryKey);
  const of = (...keys: readonly (string | null | undefined)[]) =>
    alertsFor(
      FINE,
      THERE.map((state, i) => ({ ...state, recoveryKey: keys[i] ?? null })),
      NOW_MS,
    ).map(({ code, detail }) => `${code} ${detail}`);
  expect(of(first, second, third)).toEqual([]);
  // Co-signers that do not answer the question are no reason for an alert.
  expect(of(first, null, null)).toEqual([]);
  expect(of('', second, '')).toEqual(['recovery-key-missing Co-signers without a recovery key: 1, 3.']);
  expect(of(first, second, first)).toEqual(['recovery-key-shared Co-signers that share one recovery key: 1, 3.']);
});

test('simultaneous alerts are sorted, those with the most risk for the assets first', () => {
  const overdue = { ...IDLE, oldestDueAtMs: ago(100), newestFailureAtMs: ago(100) };
  const all = codes(
    {
      quietest: [quiet(100)],
      unexplained: ['NODES_DISAGREE', 'COIN_UNKNOWN'].map((stateReason) => ({
        stateReason,
        number: 1,
        updatedAtMs: ago(100),
      })),
      deliveries: overdue,
      scans: overdue,
      hints: hints(1, 100),
      claims: [claim(100)],
      monitors: [unread(5, 60, 100)],
      unreported: { number: 1, oldestAtMs: ago(100) },
      newestDeadLetterAtMs: ago(100),
      longestUnsweptAtMs: ago(200),
      stores: [{ store: 'D1', bytes: STORE_BYTES }],
      outdatedKeys: { number: 1, oldestSinceMs: ago(1500), longest: [] },
    },
    [
      { ...STATE, node: 1, fault: 'unreachable', banned: [2], recoveryKey: null },
      { ...STATE, node: 2, recoveryKey: '' },
      ...[3, 4].map((node) => ({
        ...STATE,
        node,
        recoveryKey: 'aa',
        test: {
          skewMs: node === 3 ? 30_000 : 0,
          peers: String(node),
          keyEncryption: ['bb'],
          isSecretReused: false,
          release: '0.2.0',
          stateVersion: 1,
          keys: (['unreadable', 'missing'] as const).map((fault) => ({ keyId: 'k', epoch: 1, madeAtMs: 1, fault })),
        },
      })),
    ],
  );
  const node = { chain: 'base', position: 0, host: 'h', checkedAtMs: 1, head: null, lagBlocks: null, otherChain: null };
  const abilities = { traces: null, hasHistory: null };
  const nodes = RPC_NODE_FAULTS.map((fault) => ({ ...node, ...abilities, fault, error: null }));
  const ofNodes = alertsOfRpcNodes({
    nodes,
    nodelessChains: ['solana'],
    singleNodeChains: ['base'],
    fundedChains: ['base'],
  });
  const { work, cosigners } = ALERT_CODES_OF;
  expect(all).toEqual([...work, ...cosigners]);
  expect(ofNodes.map(({ code }) => code)).toEqual([...ALERT_CODES_OF.rpcNodes]);
});
