import { expect, test } from 'vitest';
import type { AccessToken, AdmittedToken, TokenManager } from '#domain/access/access-token.ts';
import {
  admissionFault,
  deletedToken,
  managedToken,
  ownToken,
  rotatedToken,
  updatedToken,
} from '#domain/access/access-token.ts';
import { WHOLE_GRANT } from '#domain/access/token-grant.ts';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import { alice, bob, NOON_MS, vaultId } from '../cast.ts';

const [current, previous, wrong] = ['aa'.repeat(32), 'bb'.repeat(32), 'cc'.repeat(32)];

function token(differences: Partial<AccessToken> = {}): AccessToken {
  return {
    id: alice.tokenId,
    user: { id: alice.userId, name: 'alice', email: 'alice@example.com' },
    name: 'script',
    expiresAt: null,
    enabled: true,
    isSuspended: false,
    madeIn: null,
    secretHash: current,
    previous: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    rotatedAtMs: null,
    deletedAtMs: null,
    firstUsedAtMs: null,
    ...WHOLE_GRANT,
    ...differences,
  };
}

function fault(of: AccessToken, secretHash: string, nowMs = NOON_MS) {
  return admissionFault(of, { secretHash, nowMs }, constantTimeEqual);
}

test('a token opens with the right secret, and not with another one', () => {
  expect([fault(token(), current), fault(token(), wrong), fault(token(), '')]).toEqual([null, 'unknown', 'unknown']);
});

test('a token expires at exactly the second of its expiry', () => {
  const expiring = token({ expiresAt: NOON_MS / 1000 });
  expect(fault(expiring, current, NOON_MS - 1)).toBeNull();
  expect(fault(expiring, current, NOON_MS)).toBe('expired');
});

test('the value before a rotation works until its grace is over, and not a millisecond longer', () => {
  const rotated = token({ previous: { secretHash: previous, untilMs: NOON_MS } });
  expect([fault(rotated, previous, NOON_MS - 1), fault(rotated, previous, NOON_MS)]).toEqual([null, 'unknown']);
  expect(fault(rotated, current, NOON_MS)).toBeNull();
});

test('the reason why a token is invalid is reported only to a caller who presents its secret', () => {
  for (const broken of [token({ enabled: false }), token({ expiresAt: 1 })])
    expect(fault(broken, wrong)).toBe('unknown');
  expect(fault(token({ enabled: false }), current)).toBe('disabled');
  expect(fault(token({ enabled: false, expiresAt: 1 }), current)).toBe('disabled');
});

test('a deleted token works for no caller, and neither does the value before its rotation', () => {
  const deleted = token({ deletedAtMs: 1, previous: { secretHash: previous, untilMs: NOON_MS + 1 } });
  expect([fault(deleted, current), fault(deleted, previous), fault(deleted, wrong)]).toEqual([
    'deleted',
    'deleted',
    'deleted',
  ]);
});

test('two texts are equal only if all of their characters are equal', () => {
  expect([constantTimeEqual('', ''), constantTimeEqual('ab', 'ab')]).toEqual([true, true]);
  for (const other of ['aB', 'Ab', 'AB', 'abc', 'a', ''])
    expect([other, constantTimeEqual('ab', other)]).toEqual([other, false]);
});

const WHOLE: AdmittedToken = { ...WHOLE_GRANT, expiresAt: null, isSuperseded: false };
const noon = NOON_MS / 1000;
const owner: TokenManager = { userId: alice.userId, tokenId: bob.tokenId, token: WHOLE, nowMs: NOON_MS };
const itself: TokenManager = { ...owner, tokenId: alice.tokenId };

test('a token belongs to its owner alone, and to no user after its deletion', () => {
  const deleted = token({ deletedAtMs: 1 });
  for (const [of, userId] of [
    [token(), bob.userId],
    [deleted, alice.userId],
    [null, alice.userId],
  ] as const) {
    const missing = { ok: false, refusal: { code: 'access-token-not-found' } };
    const by = { ...owner, userId };
    expect(ownToken(of, userId)).toEqual(missing);
    expect(updatedToken(of, { name: 'x' }, by)).toEqual(missing);
    expect(rotatedToken(of, wrong, by)).toEqual(missing);
    expect(deletedToken(of, by)).toEqual(missing);
  }
});

test('an update changes the named fields and nothing else', () => {
  const before = token({ expiresAt: noon + 60 });
  for (const change of [{ name: 'robot' }, { expiresAt: noon + 10 }, { expiresAt: null }, { enabled: false }]) {
    expect(updatedToken(before, change, owner)).toEqual({
      ok: true,
      value: { ...before, ...change, updatedAtMs: NOON_MS },
    });
  }
});

test('a token may shorten its own lifetime and not extend it', () => {
  const before = token({ expiresAt: noon + 60 });
  expect(updatedToken(before, { expiresAt: noon + 10 }, itself).ok).toBe(true);
  expect(updatedToken(before, { expiresAt: noon + 60, name: 'the same end' }, itself).ok).toBe(true);
  expect(updatedToken(token(), { expiresAt: noon + 10 }, itself).ok).toBe(true);
  for (const expiresAt of [noon + 61, null]) {
    const refusal = { code: 'access-token-own-expiry' };
    expect(updatedToken(before, { expiresAt }, itself)).toEqual({ ok: false, refusal });
    expect(updatedToken(before, { expiresAt }, owner).ok).toBe(true);
  }
});

test('an expired token is enabled only together with a later expiry', () => {
  const expired = token({ expiresAt: noon - 1, enabled: false });
  const refusal = { code: 'access-token-inactive', reason: 'expired' };
  expect(updatedToken(expired, { enabled: true }, owner)).toEqual({ ok: false, refusal });
  expect(updatedToken(expired, { enabled: true, expiresAt: noon }, owner)).toEqual({ ok: false, refusal });
  expect(updatedToken(expired, { enabled: true, expiresAt: noon + 1 }, owner).ok).toBe(true);
  expect(updatedToken(expired, { name: 'old' }, owner).ok).toBe(true);
});

test('a token rotated twice within the grace period never has two old values', () => {
  const [second, third] = ['22'.repeat(32), '33'.repeat(32)];
  const once = rotatedToken(token(), second, owner);
  if (!once.ok) throw new Error('it must rotate');
  expect([fault(once.value, current), fault(once.value, second)]).toEqual([null, null]);
  const lastMoment = NOON_MS + 299_999;
  expect([fault(once.value, current, lastMoment), fault(once.value, current, lastMoment + 1)]).toEqual([
    null,
    'unknown',
  ]);
  const twice = rotatedToken(once.value, third, { ...owner, nowMs: NOON_MS + 1000 });
  if (!twice.ok) throw new Error('it must rotate again');
  const after = NOON_MS + 2000;
  expect([current, second, third].map((value) => fault(twice.value, value, after))).toEqual(['unknown', null, null]);
});

test('a token that does not work cannot be rotated', () => {
  const refusalOf = (of: AccessToken) => rotatedToken(of, wrong, owner);
  expect(refusalOf(token({ enabled: false }))).toEqual({
    ok: false,
    refusal: { code: 'access-token-inactive', reason: 'disabled' },
  });
  expect(refusalOf(token({ expiresAt: noon }))).toEqual({
    ok: false,
    refusal: { code: 'access-token-inactive', reason: 'expired' },
  });
});

test('a deletion also ends the value in its grace period', () => {
  const rotated = rotatedToken(token(), previous, owner);
  if (!rotated.ok) throw new Error('it must rotate');
  const deleted = deletedToken(rotated.value, owner);
  if (!deleted.ok) throw new Error('it must go');
  expect([current, previous].map((value) => fault(deleted.value, value))).toEqual(['deleted', 'deleted']);
  expect(deleted.value).toMatchObject({ enabled: false, previous: null, deletedAtMs: NOON_MS });
});

test.each([
  ['no later end', {}, { expiresAt: noon + 60 }, null],
  ['the same end', { expiresAt: noon + 60 }, { expiresAt: noon + 60 }, null],
  ['a later end', { expiresAt: noon + 60 }, { expiresAt: noon + 61 }, 'access-token-beyond-own'],
  ['no end', { expiresAt: noon + 60 }, {}, 'access-token-beyond-own'],
  ['fewer scopes', {}, { scopes: ['read'] }, null],
  ['another scope', { scopes: ['read', 'manage-tokens'] }, { scopes: ['approve'] }, 'access-token-beyond-own'],
  ['fewer vaults', { vaultIds: [vaultId] }, { vaultIds: [vaultId] }, null],
  ['all vaults', { vaultIds: [vaultId] }, {}, 'access-token-beyond-own'],
  ['a narrower network', { networks: ['10.0.0.0/8'] }, { networks: ['10.1.0.0/16', '10.2.0.1'] }, null],
  ['a wider network', { networks: ['10.1.0.0/16'] }, { networks: ['10.0.0.0/8'] }, 'access-token-beyond-own'],
  ['any address', { networks: ['10.1.0.0/16'] }, {}, 'access-token-beyond-own'],
  ['the scope is missing', { scopes: ['read'] }, { scopes: ['read'] }, 'insufficient-scope'],
  ['the value was replaced', { isSuperseded: true }, {}, 'access-token-superseded'],
] as const)('a token manages another one by what it has: %s', (_case, has, target, code) => {
  const managed = managedToken(token(target), { ...owner, token: { ...WHOLE, ...has } });
  expect(managed.ok ? null : managed.refusal.code).toBe(code);
});

test('a session manages every token of its user, and a token always manages itself', () => {
  const target = token({ scopes: ['read'], expiresAt: noon + 60 });
  expect(managedToken(target, { ...owner, token: null }).ok).toBe(true);
  expect(updatedToken(target, { expiresAt: null }, { ...owner, token: null }).ok).toBe(true);
  expect(managedToken(target, { ...itself, token: { ...WHOLE, ...target, isSuperseded: false } }).ok).toBe(true);
  const isSuperseded = { ...WHOLE, isSuperseded: true };
  expect(managedToken(target, { ...itself, token: isSuperseded }).ok).toBe(false);
});

test('a token extends another one to its own end, and no further', () => {
  const by = { ...owner, token: { ...WHOLE, expiresAt: noon + 100 } };
  const target = token({ expiresAt: noon + 60 });
  expect(updatedToken(target, { expiresAt: noon + 100 }, by).ok).toBe(true);
  for (const expiresAt of [noon + 101, null]) {
    const refusal = { code: 'access-token-beyond-own' };
    expect(updatedToken(target, { expiresAt }, by)).toEqual({ ok: false, refusal });
  }
});
