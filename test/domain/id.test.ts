import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  newTransactionId,
  newUserId,
  parseKeyId,
  parseTokenId,
  parseTransactionId,
  parseUserId,
  parseVaultId,
  parseVaultIdText,
  ulid,
  vaultOfTransaction,
} from '#domain/id.ts';
import { vaultId } from './cast.ts';

const random = new Uint8Array(10).fill(0xff);

test('a transaction id carries its vault', () => {
  fc.assert(
    fc.property(
      fc.maxSafeNat().filter((n) => n > 0),
      fc.uint8Array({ minLength: 10, maxLength: 10 }),
      (number, bytes) => {
        const vault = parseVaultId(number);
        if (vault === null) throw new Error('a positive safe integer is a vault id');
        const id = newTransactionId(vault, 1_700_000_000_000, bytes);
        expect(parseTransactionId(id)).toBe(id);
        expect(vaultOfTransaction(id)).toBe(vault);
      },
    ),
  );
});

test('ids sort by age', () => {
  const ids = [1, 2, 1_000, 1_700_000_000_000, 1_700_000_000_001].map((ms) => newTransactionId(vaultId, ms, random));
  expect(ids.toSorted()).toEqual(ids);
});

test('a ULID uses exactly 80 random bits and refuses fewer', () => {
  expect(ulid(0, new Uint8Array(10))).toBe('0'.repeat(26));
  expect(ulid(2 ** 48 - 1, random)).toBe('7'.padEnd(26, 'Z'));
  expect(() => ulid(0, new Uint8Array(9))).toThrow('80 random bits');
});

for (const text of [
  '',
  '7',
  '7.',
  '.01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '07.01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '0.01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '-7.01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '7.01arz3ndektsv4rrffq69g5fav',
  '7.81ARZ3NDEKTSV4RRFFQ69G5FAV',
  '7.01ARZ3NDEKTSV4RRFFQ69G5FA',
  '7.01ARZ3NDEKTSV4RRFFQ69G5FAVX',
  '7.01ARZ3NDEKTSV4RRFFQ69G5FAU',
  '9007199254740992.01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '7.01ARZ3NDEKTSV4RRFFQ69G5FAV\n',
  '7.01ARZ3NDEKTSV4RRFFQ69G5FA%00',
]) {
  test(`'${text}' is no transaction id`, () => expect(parseTransactionId(text)).toBeNull());
}

for (const number of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
  test(`${number} is no vault id`, () => expect(parseVaultId(number)).toBeNull());
}

for (const text of ['0', '01', '+1', '-1', '1.0', '1e3', '0x1', ' 1', '1 ', '9007199254740992', '']) {
  test(`'${text}' in a path is no vault id`, () => expect(parseVaultIdText(text)).toBeNull());
}

test('user, token and key ids contain only the characters of their alphabets', () => {
  expect(parseUserId(newUserId(5, random))).not.toBeNull();
  expect(parseUserId('usr_01ARZ3NDEKTSV4RRFFQ69G5FAI')).toBeNull();
  expect(parseTokenId('abcDEF0123456789')).not.toBeNull();
  expect(parseTokenId('abcDEF012345678-')).toBeNull();
  expect(parseTokenId('abcDEF01234567890')).toBeNull();
  expect(parseKeyId('abcdefghijklmnopqrstuvwxyz')).not.toBeNull();
  expect(parseKeyId('abcdefghijklmnopqrstuvwxy1')).toBeNull();
});
