import { expect, test } from 'vitest';
import type { CosignerState, CosignerTest } from '#domain/operations/cosigner.ts';
import { alertsOfCosigners, withFaultyShares } from '#domain/operations/cosigner.ts';

/** Covers what the self-tests of all co-signers together mean for an operator. */

const WELL: CosignerTest = {
  skewMs: 400,
  peers: 'p1',
  keyEncryption: [],
  isSecretReused: false,
  release: '0.2.0',
  stateVersion: 3,
  keys: [{ keyId: 'k', epoch: 1, madeAtMs: 1, fault: null }],
};

/** Returns the alerts of four healthy co-signers, of which some state something else. */
function alertsWith(differences: Readonly<Record<number, Partial<CosignerTest> | null>>): readonly string[] {
  const states = [1, 2, 3, 4].map((node): CosignerState => {
    const other = differences[node];
    const stated = other === null ? null : { ...WELL, keyEncryption: [`s${node}`], ...other };
    const common = { fault: null, setting: null, banned: [], recoveryKey: String(node).repeat(64) };
    return { node, ...common, test: stated };
  });
  return alertsOfCosigners(states).map(({ code, detail }) => `${code}: ${detail}`);
}

const share = (fault: 'missing' | 'unreadable' | 'too-old' | null) => ({
  keys: [...WELL.keys, { keyId: 'other', epoch: 2, madeAtMs: 1, fault }],
});

test.each<[string, Parameters<typeof alertsWith>[0], readonly string[]]>([
  ['healthy co-signers', {}, []],
  ['co-signers of an older release', { 1: null, 2: null, 3: null, 4: null }, []],
  [
    'secrets that do not open shares',
    { 2: share('unreadable'), 3: share('unreadable') },
    ['share-unreadable: KEY_ENCRYPTION_SECRETS do not open shares at co-signers 2, 3.'],
  ],
  [
    'a time that excludes shares',
    { 4: share('too-old') },
    ['share-unreadable: SHARES_SINCE excludes shares in use at co-signers 4.'],
  ],
  ['a lost storage', { 3: share('missing') }, ['share-missing: Co-signers without a share of a key in use: 3.']],
  ['other pins at one', { 3: { peers: 'p2' } }, ['peers-differ: PEERS differ between co-signers 1, 2, 4 and 3.']],
  [
    'one secret at two',
    { 2: { keyEncryption: ['new', 's1'] } },
    ['same-secret: KEY_ENCRYPTION_SECRETS have one secret at co-signers 1, 2.'],
  ],
  ['one secret twice in one list', { 2: { keyEncryption: ['s2', 's2'] } }, []],
  [
    'one secret for two purposes',
    { 3: { isSecretReused: true } },
    ['same-secret: IDENTITY_SECRET is one of KEY_ENCRYPTION_SECRETS at co-signers 3.'],
  ],
  ['a clock at the edge', { 1: { skewMs: -20_000 } }, []],
  [
    'clocks that differ',
    { 1: { skewMs: -20_001 }, 2: { skewMs: 44_900 } },
    [
      'clock-skew: The clocks of coordinator and co-signer 1 differ by 20 seconds.',
      'clock-skew: The clocks of coordinator and co-signer 2 differ by 45 seconds.',
    ],
  ],
])('%s', (_name, differences, alerts) => {
  expect(alertsWith(differences)).toEqual(alerts);
});

test('the alert of a misconfigured co-signer names the setting', () => {
  const state = { node: 3, fault: 'misconfigured', setting: 'SHARES_SINCE', banned: [], recoveryKey: null, test: null };
  expect(alertsOfCosigners([state]).map(({ detail }) => detail)).toEqual([
    'Co-signer 3 is unavailable: misconfigured, SHARES_SINCE.',
  ]);
});

test('a faulty share of an earlier test is an alert until the key is tested again', () => {
  const states = [1, 2, 3].map((node): CosignerState => ({
    node,
    fault: null,
    setting: null,
    banned: [],
    recoveryKey: String(node).repeat(64),
    test: node === 3 ? null : { ...WELL, keyEncryption: [`s${node}`] },
  }));
  const earlier = (node: number, keyId: string) => ({
    node,
    share: { keyId, epoch: 1, madeAtMs: 1, fault: 'missing' as const },
  });
  const details = (...faulty: readonly ReturnType<typeof earlier>[]) =>
    alertsOfCosigners(withFaultyShares(states, faulty)).map(({ detail }) => detail);
  expect(details(earlier(2, 'other'))).toEqual(['Co-signers without a share of a key in use: 2.']);
  expect(details(earlier(2, 'k'))).toEqual([]);
  expect(details(earlier(3, 'other'), earlier(4, 'other'))).toEqual([]);
});
