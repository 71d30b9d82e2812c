import { expect, test } from 'vitest';
import { costsIn } from '../../bench/profile.ts';

const frame = (functionName: string, lineNumber: number) => ({ functionName, url: 'worker.js', lineNumber });

test('the total time of a function includes its calls, and recursive calls are counted once', () => {
  const profile = {
    nodes: [
      { id: 1, callFrame: frame('(root)', -1), children: [2, 6] },
      { id: 2, callFrame: frame('fetch', 9), children: [3] },
      { id: 3, callFrame: frame('walk', 19), children: [4] },
      { id: 4, callFrame: frame('walk', 19), children: [5] },
      { id: 5, callFrame: frame('', 29) },
      { id: 6, callFrame: frame('(idle)', -1) },
    ],
    samples: [2, 4, 5, 6, 3],
    timeDeltas: [1_000, 2_000, 4_000, 50_000, 8_000],
  };
  expect(costsIn('conclave', profile)).toEqual([
    { isolate: 'conclave', what: 'fetch:10', selfMs: 1, totalMs: 15 },
    { isolate: 'conclave', what: 'walk:20', selfMs: 10, totalMs: 14 },
    { isolate: 'conclave', what: 'anonymous:30', selfMs: 4, totalMs: 4 },
  ]);
});
