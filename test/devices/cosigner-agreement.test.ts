import { expect, test } from 'vitest';
import type { CosignerAgreement, ShownPolicies, Agreement } from '#devices/cosigner-agreement.ts';
import { dissentersIn, agreementsOf, AGREEMENTS } from '#devices/cosigner-agreement.ts';
import type { StatementVerdict } from '#devices/statement.ts';

const hash = (version: number) => `${version}a`.repeat(32);
const chain = [2, 3, 4].map((version) => ({ version, hash: hash(version) }));
const other = 'ff'.repeat(32);

const agreeing: StatementVerdict = { verdict: 'agrees', cosigner: 1 };
const stating = (policyVersion: number, policyHash: string): StatementVerdict => ({
  verdict: 'disagrees',
  cosigner: 1,
  policyVersion,
  policyHash,
});

const agreement = (verdict: StatementVerdict, shown: ShownPolicies = { chain }) => agreementsOf([verdict], shown)[0];

test('a co-signer agrees if the policy that it states is in the policy chain', () => {
  const cases: readonly (readonly [StatementVerdict, Agreement, string])[] = [
    [agreeing, 'agrees', 'version 4'],
    [stating(3, hash(3)), 'behind', 'version 3'],
    [stating(2, hash(2)), 'behind', 'version 2'],
    // The test states another policy of the same version, the hash of another version, and a
    // version beyond the end of the chain.
    [stating(4, other), 'other-history', other],
    [stating(3, other), 'other-history', other],
    [stating(3, hash(2)), 'other-history', 'version 3'],
    [stating(1, hash(1)), 'other-history', 'version 1'],
    [stating(0, other), 'other-history', 'version 0'],
    [stating(5, other), 'later-version', 'version 5'],
    [stating(5, hash(4)), 'later-version', 'version 5'],
    [{ verdict: 'unknown', cosigner: 1, reason: 'missing' }, 'unknown', 'missing'],
    [{ verdict: 'unknown', cosigner: 1, reason: 'too-old' }, 'unknown', 'too-old'],
    [{ verdict: 'unknown', cosigner: 1, reason: 'other-nonce' }, 'unknown', 'other-nonce'],
  ];
  for (const [verdict, expected, detail] of cases) {
    expect(agreement(verdict)).toEqual({ cosigner: 1, agreement: expected, detail: expect.stringContaining(detail) });
  }
});

test('only co-signers at versions 3 and 4 agree with a renewal of version 4', () => {
  const renewal = { chain, since: 3 };
  const of = (verdict: StatementVerdict) => agreement(verdict, renewal)?.agreement;
  expect([of(agreeing), of(stating(3, hash(3)))]).toEqual(['agrees', 'agrees']);
  expect(of(stating(2, hash(2)))).toBe('behind');
  expect(of(stating(3, other))).toBe('other-history');
  expect(of(stating(5, other))).toBe('later-version');
  expect(of({ verdict: 'unknown', cosigner: 1, reason: 'missing' })).toBe('unknown');
});

test('no co-signer agrees if the vault has no policy', () => {
  expect(() => agreementsOf([agreeing], { chain: [] })).toThrow('no policy');
});

/** All combinations of verdicts that n co-signers can have. */
function combinations(n: number): readonly (readonly Agreement[])[] {
  if (n === 0) return [[]];
  return combinations(n - 1).flatMap((rest) => AGREEMENTS.map((one) => [...rest, one]));
}

const seen = (agreements: readonly Agreement[]): readonly CosignerAgreement[] =>
  agreements.map((one, i) => ({ cosigner: i + 1, agreement: one, detail: '' }));

const sizes = [
  { n: 3, t: 2 },
  { n: 3, t: 3 },
  { n: 4, t: 3 },
  { n: 4, t: 4 },
];

test.each(sizes)(
  '$t of $n: with t agreements each other co-signer is named, and with fewer agreements none is',
  ({ n, t }) => {
    const all = combinations(n);
    expect(all).toHaveLength(AGREEMENTS.length ** n);
    for (const agreements of all) {
      const others = agreements.flatMap((one, i) => (one === 'agrees' ? [] : [i + 1]));
      const found = dissentersIn(seen(agreements), t);
      if (n - others.length >= t) {
        expect(found.ok && found.value.map(({ cosigner }) => cosigner)).toEqual(others);
      } else {
        expect(found).toEqual({ ok: false, refusal: 'too-few-agree' });
      }
    }
  },
);

test.each(sizes)('$t of $n: t - 1 lying co-signers never prove a policy that no honest co-signer has', ({ n, t }) => {
  const honest: readonly Agreement[] = ['behind', 'other-history', 'later-version', 'unknown'];
  const games = combinations(n).filter((all) => all.slice(t - 1).every((one) => honest.includes(one)));
  expect(games).toHaveLength(5 ** (t - 1) * 4 ** (n - t + 1));
  for (const agreements of games) expect(dissentersIn(seen(agreements), t).ok).toBe(false);
});

test.each(sizes)(
  '$t of $n: n - t lying co-signers never prevent the proof of a policy that all others have',
  ({ n, t }) => {
    const games = combinations(n).filter((one) => one.slice(n - t).every((each) => each === 'agrees'));
    expect(games).toHaveLength(5 ** (n - t));
    for (const agreements of games) expect(dissentersIn(seen(agreements), t).ok).toBe(true);
  },
);
