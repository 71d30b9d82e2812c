import { describe, expect, test } from 'vitest';
import type { RulesOfPolicy } from '#dashboard/forms/rules-draft.ts';
import { assetChoices, BadRule, draftOf, patchOf } from '#dashboard/forms/rules-draft.ts';

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';

const policy: RulesOfPolicy = {
  signers: ['usr_a', 'usr_b', 'usr_c'],
  threshold: 2,
  approvalMode: 'token',
  recipients: 'anyone',
  addressBook: [],
  limits: [{ chain: 'ethereum', tokenAddress: USDC, perTransaction: '2500000', perDay: null }],
  higherThresholds: [{ chain: 'ethereum', tokenAddress: null, above: '1000000000000000001', threshold: 3 }],
  unreadableThreshold: null,
};

const balances = [
  { chain: 'ethereum', tokenId: null, asset: { tokenAddress: null, symbol: 'ETH', decimals: 18 } },
  { chain: 'ethereum', tokenId: '7', asset: { tokenAddress: '0xPicture', symbol: 'PIC', decimals: 0 } },
];

const assets = assetChoices(policy, balances);
const draft = draftOf(policy, assets);

test('a rule can name an asset of the vault or of an existing rule; a rule for a collectible has no amounts', () => {
  expect(assets.map(({ text, decimals }) => [text, decimals])).toEqual([
    ['0xA0b869…06eB48 on ethereum', null],
    ['ETH on ethereum', 18],
  ]);
});

test('amounts are shown exactly, in units if the decimals are known and else in smallest units', () => {
  expect(draft.higherThresholds[0]?.above).toBe('1.000000000000000001');
  expect(draft.limits[0]).toMatchObject({ perTransaction: '2,500,000', perDay: '' });
});

describe('the proposed patch', () => {
  test('is empty if no field differs, whatever was clicked', () => {
    expect(() => patchOf(draft, policy, assets)).toThrow(BadRule);
    expect(() => patchOf({ ...draft, signers: ['usr_c', 'usr_a', 'usr_b'] }, policy, assets)).toThrow(BadRule);
    expect(() => patchOf({ ...draft, note: 'for no reason' }, policy, assets)).toThrow(BadRule);
  });

  test('names only the fields that differ', () => {
    expect(patchOf({ ...draft, threshold: ' 3 ', note: ' stricter ' }, policy, assets)).toEqual({
      threshold: 3,
      note: 'stricter',
    });
    expect(patchOf({ ...draft, limits: [] }, policy, assets)).toEqual({ limits: [], note: null });
    expect(patchOf({ ...draft, unreadableThreshold: '3' }, policy, assets)).toEqual({
      unreadableThreshold: 3,
      note: null,
    });
  });

  test('accepts as many decimals as the asset has, and refuses one more', () => {
    const above = (text: string) =>
      patchOf({ ...draft, higherThresholds: [{ asset: 'ethereum ', above: text, threshold: '2' }] }, policy, assets);
    expect(above('12,000.000000000000000001').higherThresholds).toEqual([
      { chain: 'ethereum', tokenAddress: null, above: '12000000000000000000001', threshold: 2 },
    ]);
    for (const bad of ['', '1e3', '-1', '1.0000000000000000001', '0x10', '1.2.3'])
      expect(() => above(bad)).toThrow(BadRule);
  });

  test.each(['', '0', '-1', '2.5', 'two', '100'])('the draft refuses %j as a number of approvals', (threshold) => {
    expect(() => patchOf({ ...draft, threshold }, policy, assets)).toThrow(BadRule);
  });

  test('is about an existing asset', () => {
    const limits = [{ asset: 'ethereum 0xgone', perTransaction: '1', perDay: '' }];
    expect(() => patchOf({ ...draft, limits }, policy, assets)).toThrow(BadRule);
  });
});
