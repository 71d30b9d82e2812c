import { expect, test } from 'vitest';
import type { Pruning } from '#chains/rpc/pruned-answer.ts';
import { prunedResponse } from '#chains/rpc/pruned-answer.ts';

/** Covers long answers of RPC nodes in the runtime of a deployment, where they are streams. */

const PRUNING: Pruning = {
  keeps: new Set(['result', 'error', 'message', 'from', 'calls']),
  keptItem: ({ from, ...item }, list) => (list !== 'calls' ? undefined : from === 'mallory' ? null : { from, ...item }),
};

/** Returns a response with these texts, in chunks of a size, without a declared length. */
function responseOf(texts: Iterable<string>, chunkBytes = 100_000): Response {
  const parts = texts[Symbol.iterator]();
  let rest = new Uint8Array();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      while (rest.length < chunkBytes) {
        const next = parts.next();
        if (next.done === true) break;
        const bytes = new TextEncoder().encode(next.value);
        const joined = new Uint8Array(rest.length + bytes.length);
        joined.set(rest);
        joined.set(bytes, rest.length);
        rest = joined;
      }
      if (rest.length === 0) return controller.close();
      controller.enqueue(rest.slice(0, chunkBytes));
      rest = rest.slice(chunkBytes);
    },
  });
  return new Response(body);
}

const LONG = 'ab'.repeat(100_000);
const call = (from: string, input = LONG) => `{"from":"${from}","input":"${input}","logs":[{"a":1}]}`;

function* trace(calls: number, from: (i: number) => string = (i) => (i === 3 ? 'alice' : 'mallory'), input = LONG) {
  yield '{"jsonrpc":"2.0","result":{"from":"contract","calls":[';
  for (let i = 0; i < calls; i++) yield `${i === 0 ? '' : ','}${call(from(i), input)}`;
  yield ']}}\n';
}

const read = async (response: Response, pruning = PRUNING) => (await prunedResponse(response, pruning)).json();
const pruned = (calls: number) => {
  const kept = Array.from({ length: calls }, (_, i) => (i === 3 ? { from: 'alice' } : null));
  return { result: { from: 'contract', calls: kept } };
};

test('of a long answer only the fields and items are kept that the call names, at their positions', async () => {
  expect(await read(responseOf(trace(40)))).toEqual(pruned(40));
  // No boundary of chunks matters, within a text, a number or a character of several bytes.
  for (const chunkBytes of [65_537, 300_001]) expect(await read(responseOf(trace(25), chunkBytes))).toEqual(pruned(25));
  function* emoji() {
    yield `{"result":{"from":"🔑${'é'.repeat(3_000_000)}"}}`;
  }
  expect(await read(responseOf(emoji(), 65_536))).toEqual({ result: { from: `🔑${'é'.repeat(3_000_000)}` } });
});

test('an item without a position is removed', async () => {
  function* lists() {
    yield '{"result":[';
    for (let i = 0; i < 50; i++) yield `${i === 0 ? '' : ','}${call('alice')}`;
    yield ']}';
  }
  expect(await read(responseOf(lists()))).toEqual({ result: [] });
});

test('a short answer is not changed, whatever it is', async () => {
  for (const text of ['{"result":{"from":"a","gas":1}}', '<html>Forbidden</html>', '']) {
    expect(await (await prunedResponse(responseOf([text]), PRUNING)).text()).toBe(text);
    expect(await (await prunedResponse(new Response(text, { status: 403 }), PRUNING)).text()).toBe(text);
  }
  expect((await prunedResponse(new Response('no', { status: 403 }), PRUNING)).status).toBe(403);
});

test('a long answer that is no JSON, or ends too early, is no answer', async () => {
  const page = `<html>${LONG.repeat(25)}`;
  await expect(read(responseOf([page]))).rejects.toThrow();
  await expect(read(responseOf([...trace(40)].slice(0, -1)))).rejects.toThrow('ended too early');
  await expect(read(responseOf([...trace(40), '{}']))).rejects.toThrow();
});

test('an answer of sixty megabytes is read, and one above the limits is refused by name', async () => {
  expect(await read(responseOf(trace(300)))).toEqual(pruned(300));
  const named = { name: 'AnswerTooLong' };
  await expect(read(responseOf(trace(330)))).rejects.toMatchObject(named);
  const declared = new Response('{}', { headers: { 'content-length': '64000001' } });
  await expect(prunedResponse(declared, PRUNING)).rejects.toMatchObject(named);
  // One text without an end, as a faulty node may send it.
  function* endless() {
    yield '{"result":{"input":"';
    for (;;) yield LONG;
  }
  await expect(read(responseOf(endless()))).rejects.toMatchObject(named);
});

test('the optional answers of a job share a budget, and the others do not', async () => {
  const optional = { values: 200 };
  const once = (pruning: Pruning) => prunedResponse(responseOf(trace(25)), pruning, optional);
  const trace25 = { ...PRUNING, isOptional: true as const };
  await once(trace25);
  await expect(once(trace25)).rejects.toMatchObject({ name: 'AnswerTooLong' });
  await once(PRUNING);
});

test('an answer with too many parts, or nested too deeply, is refused before it fills the memory', async () => {
  const named = { name: 'AnswerTooLong' };
  await expect(read(responseOf(trace(60_000, () => 'a'.repeat(200), 'ab')))).rejects.toMatchObject(named);
  function* nested() {
    yield `{"padding":"${LONG.repeat(21)}","result":`;
    for (let i = 0; i < 3_000; i++) yield '{"from":';
  }
  await expect(read(responseOf(nested()))).rejects.toMatchObject(named);
});
