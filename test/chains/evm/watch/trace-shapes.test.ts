import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import { anvilChain } from '../local-chain.ts';
import field from './field/trace-shapes.json' with { type: 'json' };
import { plainAnswer } from './one-block-node.ts';

/**
 * Covers the traces that clients and providers return, and refuse, for one transaction: it pays the
 * vault ether through a contract, and five units of a token. Each shape comes from a public report,
 * which the file names.
 */

let node: FalseNode;

beforeAll(async () => {
  node = await startFalseNode('http://127.0.0.1:1/');
});
afterAll(() => node.stop());

const { vault, transaction, receipt } = field;
const VAULT = getAddress(vault);
const ETHER = 10n ** 18n;
const PREVIOUS = `0x${(BigInt(transaction.blockNumber) - 1n).toString(16)}`;
const TRACES = ['debug_traceTransaction', 'debug_traceBlockByNumber'];
const GETH = field.shapes[0]?.result as readonly { readonly result: object }[];

/** The answers of a node to everything but traces. */
function plain(method: string, params: readonly unknown[]): unknown {
  if (method === 'eth_getBalance') return params[1] === transaction.blockNumber ? `0x${ETHER.toString(16)}` : '0x0';
  return plainAnswer([field, { transaction: OTHER, receipt: {} }], method, params);
}

/** Another transaction of the block, which does not concern the vault. */
const OTHER = { ...transaction, hash: '0x029da9193903159d4031abf34b9b76de96924da3ebc2e7706bbccba449680c5c', to: null };
const OTHER_CALL = { type: 'CREATE', from: OTHER.from, value: '0x0', input: '0x' };

/** The trace of a contract that makes 150 calls with 20 kB each, and then pays the vault. */
function heavyTrace(): object {
  const to = transaction.to;
  const idle = { type: 'CALL', from: to, to, value: '0x0', input: `0x${'ab'.repeat(20_000)}`, output: '0x' };
  const paying = { type: 'CALL', from: to, to: vault, value: transaction.value, input: '0x' };
  const { from, value } = transaction;
  return { type: 'CALL', from, to, value, input: '0x', calls: [...Array.from({ length: 150 }, () => idle), paying] };
}

type Shape = (typeof field.shapes)[number];

function traceAnswer(shape: Shape, method: string, status: number | undefined): Rule {
  const isBlock = method === 'debug_traceBlockByNumber';
  const good = isBlock ? [...GETH, { txHash: OTHER.hash, result: OTHER_CALL }] : GETH[0]?.result;
  if (!shape.methods.includes(method)) return { result: good };
  if (status !== undefined) return { status, body: 'body' in shape ? shape.body : '', type: 'text/html' };
  if ('error' in shape && shape.error !== undefined) return { error: shape.error };
  if ('recipe' in shape && shape.recipe !== undefined) {
    const result = heavyTrace();
    return {
      result: isBlock
        ? [
            { txHash: transaction.hash, result },
            { txHash: OTHER.hash, result: OTHER_CALL },
          ]
        : result,
    };
  }
  const { result } = shape;
  if (!isBlock || !Array.isArray(result)) return { result };
  // The shape has the rows of the transaction, and sometimes that of the other one.
  if (result.length > 1) return { result };
  const row: object = Object(result[0]);
  const other =
    'txHash' in row
      ? { txHash: OTHER.hash, result: OTHER_CALL }
      : 'result' in row
        ? { result: OTHER_CALL }
        : OTHER_CALL;
  return { result: [...result, other] };
}

const cases = field.shapes.flatMap((shape) =>
  ('http' in shape && shape.http !== undefined ? shape.http : [undefined]).map((status) => ({
    name: status === undefined ? shape.name : `${shape.name}, status ${status}`,
    shape,
    status,
  })),
);

test.each(cases)('$name: the record and the scan find the transaction', async ({ shape, status }) => {
  node.follow((method, params) =>
    TRACES.includes(method) ? traceAnswer(shape, method, status) : { result: plain(method, params) },
  );
  const client = clientFor(anvilChain(), [node.url]);
  const read = await client.activity(transaction.hash, null);
  if (!read.ok || read.value === null) throw new Error('there is no record');
  const { movements, untracedBy, isUntraced } = read.value;
  const received = movements.filter(({ to }) => to === VAULT).map(({ kind, amount }) => [kind, amount]);
  expect(received).toEqual([...(shape.isTraced ? [['internal', ETHER.toString()]] : []), ['erc20', '5']]);
  const { host } = new URL(node.url);
  expect([untracedBy, isUntraced]).toEqual(shape.isTraced ? [undefined, undefined] : [[host], true]);

  const scan = await client.scan(VAULT, (BigInt(PREVIOUS) - 1n).toString());
  if (!scan.ok) throw new Error(scan.refusal.detail);
  // The block's traces, and not its logs, show the transaction here.
  const isReadable = shape.untraced === 0 || shape.isTraced;
  expect([scan.value.hashes, scan.value.untraced]).toEqual([isReadable ? [transaction.hash] : [], shape.untraced]);
  expect(scan.value.untracedBy).toBe(shape.untraced === 0 ? undefined : host);
});

test('an unreachable node is no missing trace: the receipt is required', async () => {
  node.follow((method, params) => (method === 'eth_getTransactionReceipt' ? 'cut' : { result: plain(method, params) }));
  const read = await clientFor(anvilChain(), [node.url]).activity(transaction.hash, null);
  expect(read).toMatchObject({ ok: false });
});

test('a receipt with megabytes of logs of a stranger is read, and its transfers are found', async () => {
  const [transfer] = receipt.logs;
  const noise = { ...transfer, topics: [`0x${'5e'.repeat(32)}`], data: `0x${'ab'.repeat(30_000)}` };
  const logs = [...Array.from({ length: 90 }, () => noise), transfer];
  node.follow((method, params) => {
    if (method === 'eth_getTransactionReceipt') return { result: { ...receipt, logs } };
    return TRACES.includes(method) ? { result: null } : { result: plain(method, params) };
  });
  const read = await clientFor(anvilChain(), [node.url]).activity(transaction.hash, null);
  expect(read.ok && read.value?.movements.map(({ kind }) => kind)).toEqual(['native', 'erc20']);
});
