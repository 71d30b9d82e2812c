import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAnvil } from '#local/evm/anvil.ts';

async function blockNumber(url: string): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer: { result: string } = JSON.parse(await response.text());
  return answer.result;
}

async function mine(url: string, blocks: number): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: [blocks] });
  await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

test('two chains run side by side, each on a free port', async () => {
  const [one, two] = await Promise.all([startAnvil(), startAnvil()]);
  await mine(one.url, 2);
  expect([await blockNumber(one.url), await blockNumber(two.url)]).toEqual(['0x2', '0x0']);
  await Promise.all([one.stop(), two.stop()]);
  await one.stop();
  expect(await blockNumber(one.url).catch(() => 'gone')).toBe('gone');
});

test('a chain continues after a restart with the state from before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-anvil-'));
  const statePath = join(folder, 'state.json');
  const first = await startAnvil({ statePath });
  await mine(first.url, 5);
  await first.stop();
  expect(existsSync(statePath)).toBe(true);
  const second = await startAnvil({ statePath });
  expect(await blockNumber(second.url)).toBe('0x5');
  await second.stop();
  await rm(folder, { recursive: true });
});

test('a chain that is stopped right after its start keeps its state', async () => {
  // One stop of about forty comes before anvil handles the signal, so one stop alone proves little.
  const folder = await mkdtemp(join(tmpdir(), 'conclave-anvil-'));
  for (let round = 0; round < 60; round += 1) {
    const statePath = join(folder, `${round}.json`);
    await (await startAnvil({ statePath })).stop();
    expect(existsSync(statePath)).toBe(true);
  }
  await rm(folder, { recursive: true });
});

test('a port in use is an error, whatever answers on it', async () => {
  const server = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const started = await startAnvil({ port }).then(
    () => 'started',
    (error: unknown) => String(error),
  );
  expect(started).toContain('Address already in use');
  server.close();
});
