import { describe, expect, test } from 'vitest';
import type { RulesOfPolicy } from '#dashboard/forms/rules-draft.ts';
import { assetChoices, BadRule, draftOf, keptDraft, patchOf } from '#dashboard/forms/rules-draft.ts';

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
  signOnce: null,
  limitsIncludeFees: true,
  requiredDevice: 'any',
  unboundMessages: null,
  maxFees: null,
  tokens: null,
  rejections: null,
  excludedMembers: null,
};

const native = { tokenAddress: null, symbol: 'ETH', decimals: 18, trust: 'native', imitates: null } as const;
const listed = { tokenAddress: USDC, symbol: 'USDC', decimals: 6, trust: 'listed', imitates: null } as const;
const FAKE = '0x2279B7A0a67DB372996a5FaB50D91eAA73d2eBe6';
const fake = { tokenAddress: FAKE, symbol: 'USDC', decimals: 6, trust: 'unlisted', imitates: 'USDC' } as const;

const balances = [
  { chain: 'ethereum', tokenId: null, asset: native },
  { chain: 'ethereum', tokenId: '7', asset: { ...listed, tokenAddress: '0xPicture' } },
];

const assets = assetChoices(policy, balances);
const draft = draftOf(policy, assets);

test('a rule can name an asset of the vault or of an existing rule; a rule for a collectible has no amounts', () => {
  expect(assets.map(({ text, decimals }) => [text, decimals])).toEqual([
    ['ETH on ethereum', 18],
    ['unlisted token 0xA0b869…06eB48 on ethereum', null],
  ]);
});

test('an imitation is never offered, and a listed token is offered once, with its contract', () => {
  const held = [
    { chain: 'ethereum', tokenId: null, asset: fake },
    { chain: 'ethereum', tokenId: null, asset: listed },
    { chain: 'ethereum', tokenId: null, asset: native },
  ];
  const choices = assetChoices({ ...policy, limits: [] }, held);
  expect(choices.map(({ text, tokenAddress }) => [text, tokenAddress])).toEqual([
    ['ETH on ethereum', null],
    ['USDC on ethereum, contract 0xA0b869…06eB48', USDC],
  ]);
  // A rule that names it already keeps it, with its contract and in smallest units.
  const ruled = assetChoices(
    {
      ...policy,
      limits: [{ ...policy.limits[0], chain: 'ethereum', tokenAddress: FAKE, perTransaction: '5', perDay: null }],
    },
    held,
  );
  expect(ruled.map(({ text, decimals }) => [text, decimals]).at(-1)).toEqual([
    'unlisted token 0x2279B7…d2eBe6 on ethereum',
    null,
  ]);
});

test('a token that is typed can be limited in its units, in the same change', () => {
  const tokens = [{ chain: 'ethereum', tokenAddress: FAKE, symbol: 'ACME', decimals: '6' }];
  const choices = assetChoices(policy, balances, tokens);
  const limits = [{ asset: `ethereum ${FAKE}`, perTransaction: '', perDay: '2.5' }];
  expect(patchOf({ ...draft, tokens, limits }, policy, choices)).toEqual({
    limits: [{ chain: 'ethereum', tokenAddress: FAKE, perTransaction: null, perDay: '2500000' }],
    tokens: [{ chain: 'ethereum', tokenAddress: FAKE, symbol: 'ACME', decimals: 6 }],
    note: null,
  });
  for (const decimals of ['', '-1', '1.5', '1e1', '100']) {
    const typed = [{ chain: 'ethereum', tokenAddress: FAKE, symbol: 'ACME', decimals }];
    expect(() => patchOf({ ...draft, tokens: typed }, policy, choices)).toThrow(BadRule);
  }
});

test('rules that a policy does not have stay absent, and each of them can be set', () => {
  expect([draft.signOnce, draft.limitsIncludeFees, draft.unboundMessages]).toEqual(['', 'true', '']);
  expect(patchOf({ ...draft, signOnce: 'quorum' }, policy, assets)).toEqual({ signOnce: 'quorum', note: null });
  expect(patchOf({ ...draft, limitsIncludeFees: 'false' }, policy, assets)).toEqual({
    limitsIncludeFees: false,
    note: null,
  });
  expect(patchOf({ ...draft, requiredDevice: 'ed25519' }, policy, assets)).toEqual({
    requiredDevice: 'ed25519',
    note: null,
  });
  expect(patchOf({ ...draft, unboundMessages: 'refuse' }, policy, assets)).toEqual({
    unboundMessages: 'refuse',
    note: null,
  });
  const maxFees = [{ chain: 'ethereum', amount: '0.05' }];
  expect(patchOf({ ...draft, maxFees }, policy, assets)).toEqual({
    maxFees: [{ chain: 'ethereum', amount: '50000000000000000' }],
    note: null,
  });
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

  test('every unreadable field is named with its position in the request, all at once', () => {
    const faultsOf = () => {
      try {
        patchOf(
          {
            ...draft,
            threshold: 'two',
            limits: [{ asset: '', perTransaction: '', perDay: 'half' }],
            tokens: [{ chain: 'ethereum', tokenAddress: FAKE, symbol: 'ACME', decimals: 'six' }],
          },
          policy,
          assets,
        );
      } catch (error) {
        if (error instanceof BadRule) return error.faults.map(({ pointer }) => pointer);
      }
      throw new Error('the draft was accepted');
    };
    expect(faultsOf()).toEqual(['/threshold', '/limits/0/tokenAddress', '/limits/0/perDay', '/tokens/0/decimals']);
  });

  test('is about an existing asset', () => {
    const limits = [{ asset: 'ethereum 0xgone', perTransaction: '1', perDay: '' }];
    expect(() => patchOf({ ...draft, limits }, policy, assets)).toThrow(BadRule);
  });
});

test('a draft that the tab has kept is the same draft, and one of another form is none', () => {
  const kept = (change: object): object => JSON.parse(JSON.stringify({ ...draft, ...change })) as object;
  expect(keptDraft(kept({}))).toEqual(draft);
  for (const change of [
    { note: 1 },
    { signers: [1] },
    { limits: {} },
    { limits: [{ asset: 'x' }] },
    { tokens: [null] },
  ]) {
    expect(keptDraft(kept(change))).toBeNull();
  }
  expect(keptDraft({})).toBeNull();
});
