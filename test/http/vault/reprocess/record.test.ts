import { expect, test } from 'vitest';
import { reportRecord } from '#http/vault/reprocess/record.ts';

/** Covers what a report states about blocks that a scan did not read. */

const range = (from: number, to: number) => ({ fromBlock: String(from), toBlock: String(to) });
const REQUESTED = range(100, 200);

function notCovered(tokens: ReturnType<typeof range>, payments: ReturnType<typeof range>) {
  const coverage = { requested: REQUESTED, tokens, payments, untraced: 3 };
  const counts = { coverage, found: 5, known: 1, added: 2, unrecorded: 1 };
  const wallet = { chain: 'eip155:1', address: '0x', state: 'recording', counts } as const;
  const [record] = reportRecord({ reportAtMs: 1_700_000_040_000, wallets: [wallet] }, []).wallets;
  expect(record).toMatchObject({ scanned: REQUESTED, incompleteBlocks: 3, found: 5, known: 1, new: 2, pending: 1 });
  return record?.notCovered;
}

test('every block that was not read is named once, with its assets', () => {
  expect(notCovered(REQUESTED, REQUESTED)).toEqual([]);
  expect(notCovered(REQUESTED, range(150, 200))).toEqual([{ assets: 'native', ...range(100, 149) }]);
  expect(notCovered(range(150, 198), range(150, 198))).toEqual([
    { assets: 'all', ...range(100, 149) },
    { assets: 'all', ...range(199, 200) },
  ]);
});

test('an empty range of tokens or of payments covers nothing', () => {
  expect(notCovered(range(201, 200), REQUESTED)).toEqual([{ assets: 'tokens', ...REQUESTED }]);
  expect(notCovered(REQUESTED, range(201, 200))).toEqual([{ assets: 'native', ...REQUESTED }]);
});

test('a report is open while a wallet is, and failed when one was given up and none is open', () => {
  const of = (...states: readonly ('waiting' | 'recording' | 'done' | 'failed' | 'not-scanned')[]) => {
    const wallets = states.map((state) => ({ chain: 'eip155:1', address: '0x', state, counts: null }));
    return reportRecord({ reportAtMs: 1_700_000_040_000, wallets }, []).state;
  };
  expect([of('failed', 'waiting'), of('recording', 'done'), of('failed', 'done'), of('done', 'not-scanned')]).toEqual([
    'open',
    'open',
    'failed',
    'done',
  ]);
});
