import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '#chains/evm/client/rpc-node.ts';
import { getChainId } from '#chains/evm/client/rpc-calls.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';

let node: FalseNode;

beforeAll(async () => {
  node = await startFalseNode('http://127.0.0.1:1/');
});

afterAll(() => node.stop());

test('reading a response body that never ends is aborted in time', async () => {
  node.follow(() => 'hang');
  const started = performance.now();
  const answer = await connect(node.url, 200).request(getChainId);
  expect(answer).toMatchObject({ ok: false, refusal: { kind: 'no-answer' } });
  expect(performance.now() - started).toBeLessThan(5000);
});

test('a call that failed is not repeated automatically', async () => {
  node.follow(() => ({ status: 503, body: 'busy' }));
  expect((await connect(node.url).request(getChainId)).ok).toBe(false);
  expect(node.requests).toEqual(['eth_chainId']);
});

test('a redirect is not followed', async () => {
  node.follow(() => ({ status: 307, body: '' }));
  expect((await connect(node.url).request(getChainId)).ok).toBe(false);
  expect(node.requests).toHaveLength(1);
});

test("an RPC node's error keeps its code, message and data, without the node's address", async () => {
  const message = `failed at ${node.url}`;
  node.follow(() => ({ error: { code: 3, message, data: '0x08C379A0' } }));
  expect(await connect(node.url).request(getChainId)).toEqual({
    ok: false,
    refusal: { kind: 'error-answer', code: 3, detail: 'failed at [address]', data: '0x08c379a0' },
  });
});

test.each([
  ['Reverted 0x08c379a0', '0x08c379a0'],
  [{ data: '0x01' }, '0x01'],
  [{ message: 'no' }, null],
  ['not hex', null],
  [7, null],
])('revert data is found in the field that clients use: %j', async (data, expected) => {
  node.follow(() => ({ error: { code: -32015, message: 'VM execution error.', data } }));
  const answer = await connect(node.url).request(getChainId);
  expect(answer).toMatchObject({ ok: false, refusal: { data: expected } });
});
