import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Finding } from '../../../cli/doctor/finding.ts';
import type { World } from '../world.ts';
import { startWorld } from '../world.ts';
import type { AlertReceiver } from './alert-receiver.ts';
import { startAlertReceiver } from './alert-receiver.ts';
import { operatorCommand } from './operator-command.ts';

/** Covers that alerts of a real stack reach a receiver, with real requests of the Workers. */

let world: World;
let receiver: AlertReceiver;

beforeAll(async () => {
  receiver = await startAlertReceiver();
  world = await startWorld({ hasSecondNode: true });
  await world.stack().stop();
  await world.restart({ variables: receiver.variables });
});
afterAll(async () => {
  await world.end();
  await receiver.stop();
});

const sweptAt = (quarter: number) => receiver.sweptAt(world.stack(), quarter);
const ready = async () => (await fetch(`${world.stack().url}/health/ready`)).status;
const host = () => new URL(world.secondGate.url).host;

test('a receiver gets an alert once, its acknowledgement, and its end', async () => {
  expect(await ready()).toBe(503);
  const keys = 'recovery-key-missing:1, 2, 3';
  expect(await sweptAt(0)).toEqual({ received: [`alert.open ${keys}`], heartbeats: 1 });
  expect(await ready()).toBe(200);
  const node = `rpc-node-away:anvil ${host()}`;
  world.secondGate.close(503);
  expect(await sweptAt(1)).toEqual({ received: [`alert.open ${node}`], heartbeats: 1 });
  expect(await sweptAt(2)).toEqual({ received: [], heartbeats: 1 });
  await world.service().request('POST', '/internal/alert/acknowledge', { body: { id: node } });
  expect(await sweptAt(3)).toEqual({ received: [`alert.acknowledged ${node}`], heartbeats: 1 });
  world.secondGate.close(null);
  expect(await sweptAt(4)).toEqual({ received: [`alert.resolved ${node}`], heartbeats: 1 });
});

test('doctor finds no fault in the running service, and names what is risky', async () => {
  const text = await operatorCommand(world.stack(), ['doctor', '--json']);
  const { findings } = JSON.parse(text) as { findings: Finding[] };
  expect([process.exitCode ?? 0, findings.filter(({ level }) => level === 'fault')]).toEqual([0, []]);
  expect(findings.map(({ name }) => name)).toContain('recovery-key-missing:1, 2, 3');
});
