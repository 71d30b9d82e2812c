import { expect, test } from 'vitest';
import type { Status } from '../../../cli/doctor/running-check.ts';
import { checkRunning } from '../../../cli/doctor/running-check.ts';
import { alert, cosigner, GOOD, monitor, node, queue } from '../good-status.ts';

/** Covers what `doctor` reports of a running service besides its alerts. */

const NOW_MS = Date.parse('2026-11-30T10:00:00Z');
const found = (change: Partial<Status>) =>
  checkRunning({ ...GOOD, ...change }, NOW_MS).map(({ level, part, name }) => `${level} ${part} ${name}`);

test('a chain without traces or old states at any RPC node is a warning', () => {
  const chainOf = (...some: readonly object[]) => [
    { name: 'anvil', fault: null, nodes: some.map((change, i) => ({ ...node(`${i}.test`), ...change })) },
  ];
  expect(found({ chains: chainOf({ traces: false, hasHistory: false }, { traces: null, hasHistory: false }) })).toEqual(
    ['warning chain anvil traces', 'warning chain anvil history'],
  );
  expect(found({ chains: chainOf({ traces: false }, {}) })).toEqual([]);
  expect(found({ chains: chainOf({ traces: null }, { traces: null }) })).toEqual([]);
});

test('a service in which everything was checked has no finding', () => {
  expect(found({})).toEqual([]);
});

test('an alert is a fault when it is urgent, and otherwise a warning, with its acknowledgement', () => {
  const attention = [
    alert('cosigner-away:3', 'cosigner-away'),
    alert('dead-letters', 'dead-letters', '2026-11-30T09:00:00Z'),
  ];
  expect(found({ attention })).toEqual(['fault alert cosigner-away:3', 'warning alert dead-letters']);
  expect(checkRunning({ ...GOOD, attention }, NOW_MS).map(({ detail }) => detail)).toEqual([
    'D.',
    'D. Acknowledged at 2026-11-30T09:00:00Z.',
  ]);
});

test('a wrong setting is one fault with its reason', () => {
  const attention = [alert('setting-invalid:LOGIN', 'setting-invalid')];
  const settings = [{ name: 'LOGIN', fault: 'LOGIN is not valid.' }];
  expect(found({ attention, settings })).toEqual(['fault coordinator LOGIN']);
});

test('a sweep that has not ended for five minutes is one fault', () => {
  const lastSweepAt = '2026-11-30T09:55:00Z';
  expect(found({ lastSweepAt: '2026-11-30T09:55:01Z' })).toEqual([]);
  expect(found({ lastSweepAt })).toEqual(['fault coordinator late-sweep']);
  expect(found({ lastSweepAt: null })).toEqual(['fault coordinator late-sweep']);
  expect(found({ lastSweepAt, attention: [alert('late-sweep', 'late-sweep')] })).toEqual(['fault alert late-sweep']);
});

test('what was not checked yet is a warning', () => {
  expect(found({ queues: [] })).toEqual(['warning queues queue']);
  expect(found({ queues: [queue('activity', null)] })).toEqual(['warning queue activity queue']);
  expect(found({ monitors: [monitor(null)] })).toEqual(['warning monitor main monitor']);
  const chains = [{ name: 'anvil', fault: null, nodes: [node('a.test'), node('b.test', null)] }];
  expect(found({ chains })).toEqual(['warning anvil b.test rpc-node']);
});

test('one RPC node, no chain, few co-signers and two releases are named once', () => {
  const chains = [{ name: 'anvil', fault: null, nodes: [node('a.test')] }];
  expect(found({ chains })).toEqual(['warning chain anvil RPC_URLS']);
  const attention = [alert('single-rpc-node:anvil', 'single-rpc-node')];
  expect(found({ chains, attention })).toEqual(['warning alert single-rpc-node:anvil']);
  expect(found({ chains: [] })).toEqual(['fault coordinator RPC_URLS']);
  expect(found({ cosigners: [cosigner(1)] })).toEqual(['fault co-signers COSIGNER_URLS']);
  const differing = ['warning releases release'];
  expect(found({ cosigners: [cosigner(1), cosigner(2), cosigner(3, 13)] })).toEqual(differing);
  expect(found({ cosigners: [cosigner(1), cosigner(2), cosigner(3, 12, '0.3.0')] })).toEqual(differing);
  expect(found({ release: '0.1.0' })).toEqual(differing);
});

test('passkeys of another page are a warning, and a fault when no passkey is of an approval page', () => {
  const [page, former] = ['https://approve.test', 'https://former.test'];
  const of = (approvalOrigins: string[], ...origins: readonly string[]) =>
    found({
      deployment: {
        ...GOOD.deployment,
        approvalOrigins,
        passkeyOrigins: origins.map((origin) => ({ origin, vaults: 2 })),
      },
    });
  expect(of([page], page)).toEqual([]);
  expect(of([page])).toEqual([]);
  expect(of([page], page, former)).toEqual([`warning approval page ${former} APPROVAL_ORIGIN`]);
  expect(of([page], former)).toEqual([`fault approval page ${former} APPROVAL_ORIGIN`]);
  // The dashboard signs.
  expect(of([], former)).toEqual([]);
});
