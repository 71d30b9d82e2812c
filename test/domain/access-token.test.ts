import { expect, test } from 'vitest';
import type { AccessToken } from '#domain/access-token.ts';
import { admissionFault } from '#domain/access-token.ts';
import { equalTexts } from '#domain/equal-texts.ts';
import { alice, NOON_MS } from './cast.ts';

const [current, previous, wrong] = ['aa'.repeat(32), 'bb'.repeat(32), 'cc'.repeat(32)];

function token(differences: Partial<AccessToken> = {}): AccessToken {
  return {
    id: alice.tokenId,
    user: { id: alice.userId, name: 'alice', email: 'alice@example.com' },
    name: 'script',
    expiresAt: null,
    enabled: true,
    secretHash: current,
    previous: null,
    createdAtMs: 0,
    deletedAtMs: null,
    ...differences,
  };
}

function fault(of: AccessToken, secretHash: string, nowMs = NOON_MS) {
  return admissionFault(of, { secretHash, nowMs }, equalTexts);
}

test('the right secret opens it, another one does not', () => {
  expect([fault(token(), current), fault(token(), wrong), fault(token(), '')]).toEqual([null, 'unknown', 'unknown']);
});

test('it expires with the second that it names', () => {
  const expiring = token({ expiresAt: NOON_MS / 1000 });
  expect(fault(expiring, current, NOON_MS - 1)).toBeNull();
  expect(fault(expiring, current, NOON_MS)).toBe('expired');
});

test('the value before a rotation works until its grace is over, and not a millisecond longer', () => {
  const rotated = token({ previous: { secretHash: previous, untilMs: NOON_MS } });
  expect([fault(rotated, previous, NOON_MS - 1), fault(rotated, previous, NOON_MS)]).toEqual([null, 'unknown']);
  expect(fault(rotated, current, NOON_MS)).toBeNull();
});

test('what it is wrong with is told only to who has the secret', () => {
  for (const broken of [token({ enabled: false }), token({ expiresAt: 1 })])
    expect(fault(broken, wrong)).toBe('unknown');
  expect(fault(token({ enabled: false }), current)).toBe('disabled');
  expect(fault(token({ enabled: false, expiresAt: 1 }), current)).toBe('disabled');
});

test('a deleted one is gone for everybody, the old value included', () => {
  const deleted = token({ deletedAtMs: 1, previous: { secretHash: previous, untilMs: NOON_MS + 1 } });
  expect([fault(deleted, current), fault(deleted, previous), fault(deleted, wrong)]).toEqual([
    'deleted',
    'deleted',
    'deleted',
  ]);
});

test('texts are equal when every character is', () => {
  expect([equalTexts('', ''), equalTexts('ab', 'ab'), equalTexts('ab', 'aB'), equalTexts('ab', 'abc')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
