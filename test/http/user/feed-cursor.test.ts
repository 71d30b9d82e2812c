import { expect, test } from 'vitest';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { parseVaultId } from '#domain/id.ts';
import { feedCursor, positionsIn } from '#http/user/feed-cursor.ts';

const position = (seq: number, hash = 'abcd') => ({ seq, hash });

function idOf(number: number) {
  const id = parseVaultId(number);
  if (id === null) throw new Error(`${number} is no vault`);
  return id;
}

test('a cursor has the positions of all vaults, in any order of them', () => {
  const next = seededRandom(1);
  const draw = (below: number) => Math.floor(next() * below);
  for (let i = 0; i < 200; i++) {
    const positions = new Map(
      Array.from({ length: draw(50) }, () => {
        const hash = draw(2 ** 16)
          .toString(16)
          .padStart(4, '0');
        return [idOf(1 + draw(2 ** draw(53))), position(1 + draw(2 ** draw(53)), hash)];
      }),
    );
    expect(positionsIn(feedCursor(positions))).toEqual(new Map([...positions].toSorted(([a], [b]) => a - b)));
  }
});

test('a cursor of 500 vaults with a million changes each fits in a line of a request', () => {
  const vaults = Array.from({ length: 500 }, (_, i) => [idOf(1 + i * 20), position(1_000_000 + i)] as const);
  expect(feedCursor(new Map(vaults)).length).toBeLessThan(4_100);
});

test('a text with another spelling of a number, a position before the first change or a cut end is no cursor', () => {
  const cursor = (bytes: readonly number[]) => Buffer.from(bytes).toString('base64url');
  expect(positionsIn(cursor([1, 5, 3, 0xab, 0xcd]))).toEqual(new Map([[5, position(3)]]));
  for (const bytes of [
    [],
    [2, 5, 3, 0xab, 0xcd],
    [1, 5, 0, 0xab, 0xcd],
    [1, 0, 3, 0xab, 0xcd],
    [1, 5, 3, 0xab],
    [1, 5, 3, 0xab, 0xcd, 0, 4, 0xab, 0xcd],
    [1, 0x85, 0, 3, 0xab, 0xcd],
    [1, 5, ...Array.from({ length: 9 }, () => 0xff), 0xab, 0xcd],
  ])
    expect([bytes, positionsIn(cursor(bytes))]).toEqual([bytes, null]);
  expect(positionsIn(`${cursor([1, 5, 3, 0xab, 0xcd])}=`)).toBeNull();
});
