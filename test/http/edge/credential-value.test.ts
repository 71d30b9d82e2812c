import { expect, test } from 'vitest';
import { newSecret, newTokenId, parseCredential } from '#http/edge/credential-value.ts';

/** Covers the change of the key of token values. */

const [OLD, NEW, OTHER] = ['01', '02', '03'].map((byte) => byte.repeat(32)) as [string, string, string];

test('a value stays valid while its key is in the list, and a new value has the first key', () => {
  const id = newTokenId();
  const secret = newSecret('access-token');
  const old = secret.valueFor(id, OLD);
  const accepted = (value: string, keys: string) => parseCredential('access-token', value, keys)?.id === id;
  expect([accepted(old, OLD), accepted(old, `${NEW}, ${OLD}`), accepted(old, NEW)]).toEqual([true, true, false]);
  const fresh = secret.valueFor(id, `${NEW},${OLD}`);
  expect([accepted(fresh, NEW), accepted(fresh, OLD), accepted(fresh, `${OTHER},${NEW}`)]).toEqual([true, false, true]);
  expect(parseCredential('session', fresh, NEW)).toBeNull();
});

test.each(['', 'xy', OLD.slice(1), `${OLD},`, `${OLD};${NEW}`])(
  'the setting %j is refused without its value',
  (keys) => {
    const value = newSecret('access-token').valueFor(newTokenId(), OLD);
    expect(() => parseCredential('access-token', value, keys)).toThrow(/^TOKEN_MAC_KEY must be one or more keys/);
  },
);
