import { hexToBytes } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressOfPoint, addressOfPublicKey, canonicalAddress, parseAddress } from '#chains/evm/rules/address.ts';

/** The examples of EIP-55: all upper-case, all lower-case, and mixed. */
const CHECKSUMMED = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

test.each(CHECKSUMMED)('the address %s is accepted in checksummed spelling and in lower case', (address) => {
  expect(parseAddress(address)).toEqual({ ok: true, value: address });
  expect(parseAddress(address.toLowerCase())).toEqual({ ok: true, value: address });
});

test.each([
  ['one letter in the wrong case', '0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'bad-checksum'],
  ['all capitals', '0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED', 'bad-checksum'],
  ['two letters swapped', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAde', 'bad-checksum'],
  ['0X', '0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'malformed'],
  ['no 0x', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'malformed'],
  ['39 digits', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe', 'malformed'],
  ['41 digits', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd', 'malformed'],
  ['a letter that is no digit', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg', 'malformed'],
  ['a space in front', ' 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'malformed'],
  ['a line break behind', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n', 'malformed'],
  ['a full-width digit', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe９', 'malformed'],
  ['ICAP', 'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS', 'malformed'],
  ['a name', 'vitalik.eth', 'malformed'],
  ['nothing', '', 'malformed'],
  ['zero', `0x${'0'.repeat(40)}`, 'zero-address'],
])('the address %s is refused', (_name, text, fault) => {
  expect(parseAddress(text)).toEqual({ ok: false, refusal: fault });
});

test('a changed letter case is detected, so that only two spellings are accepted', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...CHECKSUMMED),
      fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      (address, caps) => {
        const digits = [...address.slice(2).toLowerCase()].map((digit, i) =>
          caps[i] === true ? digit.toUpperCase() : digit,
        );
        const spelled = `0x${digits.join('')}`;
        expect(parseAddress(spelled).ok).toBe(spelled === address || spelled === address.toLowerCase());
      },
    ),
  );
});

test('the parser throws for no text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void parseAddress(text)));
});

test('only the checksummed spelling of an address is canonical', () => {
  const [address = ''] = CHECKSUMMED.slice(4);
  expect(canonicalAddress(address)).toBe(address);
  expect(canonicalAddress(address.toLowerCase())).toBeNull();
  expect(canonicalAddress('')).toBeNull();
});

test('the generator of the curve has its known address, from the compressed point and from both coordinates', () => {
  const x = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
  const y = '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';
  const address = '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf';
  expect(addressOfPublicKey(hexToBytes(`02${x}`))).toBe(address);
  expect(addressOfPoint(hexToBytes(`${x}${y}`))).toBe(address);
  expect(() => addressOfPublicKey(hexToBytes(`04${x}${y}`))).toThrow();
  expect(() => addressOfPublicKey(hexToBytes(`02${'ff'.repeat(32)}`))).toThrow();
});
