import { expect, test, vi } from 'vitest';
import { readAtMost } from '#domain/bounded-read.ts';

test('a sender of single bytes causes a read for each 64 kilobytes, not one for each byte', async () => {
  let left = 100_000;
  const body = new ReadableStream({
    type: 'bytes',
    pull: (controller) => {
      left -= 1;
      if (left >= 0) controller.enqueue(new Uint8Array(1).fill(left % 251));
      else controller.close();
      if (left < 0) controller.byobRequest?.respond(0);
    },
  });
  const reads = vi.spyOn(ReadableStreamBYOBReader.prototype, 'read');
  const read = await readAtMost(body, 200_000);
  expect([read?.length, read?.[0], read?.at(-1)]).toEqual([100_000, 99_999 % 251, 0]);
  expect(reads.mock.calls.length).toBeLessThanOrEqual(3);
  reads.mockRestore();
});

test('a stream of exactly the limit is read, and one byte more is refused without reading the rest', async () => {
  const streamOf = (size: number, seen: { turns: number }) =>
    new ReadableStream({
      type: 'bytes',
      pull: (controller) => {
        seen.turns += 1;
        if (seen.turns <= size / 1000) controller.enqueue(new Uint8Array(1000).fill(7));
        else controller.close();
        if (seen.turns > size / 1000) controller.byobRequest?.respond(0);
      },
    });
  expect(await readAtMost(streamOf(3000, { turns: 0 }), 3000)).toEqual(new Uint8Array(3000).fill(7));
  const seen = { turns: 0 };
  expect(await readAtMost(streamOf(1_000_000, seen), 2999)).toBeNull();
  expect(seen.turns).toBeLessThanOrEqual(4);
  expect(await readAtMost(null, 3000)).toEqual(new Uint8Array());
});
