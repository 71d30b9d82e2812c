import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { conclave } from '../../../cli/conclave.ts';
import type { Finding } from '../../../cli/doctor/finding.ts';
import type { World } from '../world.ts';
import { startWorld } from '../world.ts';

/** Covers that alerts of a real stack reach a receiver, with real requests of the Workers. */

const QUARTER_MS = 900_000;
const SECRET = Buffer.from('s'.repeat(32));

let world: World;
const received: string[] = [];
let heartbeats = 0;

const receiver = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => (text += part));
  request.on('end', () => {
    if (request.url === '/ping') heartbeats += 1;
    else received.push(noted(request.headers, text));
    response.writeHead(204).end();
  });
});

/** Returns the state and the id of an alert, where the signature is right. */
function noted(headers: Readonly<Record<string, unknown>>, text: string): string {
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], text].join('.');
  const mac = `v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`;
  const { type, data } = JSON.parse(text) as { type: string; data: { id: string } };
  return headers['webhook-signature'] === mac ? `${type} ${data.id}` : 'wrong signature';
}

beforeAll(async () => {
  await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  world = await startWorld({ hasSecondNode: true });
  await world.stack().stop();
  const secrets = [`whsec_${SECRET.toString('base64')}`];
  const variables = {
    ALERT_WEBHOOK: JSON.stringify({ form: 'json', url: `${url}/alert`, secrets }),
    HEARTBEAT_URL: `${url}/ping`,
  };
  await world.restart({ variables });
});
afterAll(async () => {
  await world.end();
  await new Promise((resolve) => void receiver.close(resolve));
});

/** Runs the sweep of a quarter of an hour. Returns what the receiver got, and of how many calls. */
async function sweptAt(quarter: number) {
  received.length = 0;
  heartbeats = 0;
  await world.stack().sweep(QUARTER_MS * (Math.ceil(Date.now() / QUARTER_MS) + quarter));
  return { received: received.toSorted(), heartbeats };
}

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
  vi.stubEnv('CONCLAVE_URL', world.stack().url);
  vi.stubEnv('CONCLAVE_SERVICE_KEY', world.stack().serviceKey);
  const output = vi.spyOn(console, 'log').mockImplementation(() => {});
  await conclave(['doctor', '--json']);
  const [text] = output.mock.calls[0] ?? [];
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  const { findings } = JSON.parse(String(text)) as { findings: Finding[] };
  expect([process.exitCode ?? 0, findings.filter(({ level }) => level === 'fault')]).toEqual([0, []]);
  expect(findings.map(({ name }) => name)).toContain('recovery-key-missing:1, 2, 3');
});
