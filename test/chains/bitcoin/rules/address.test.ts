import { expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { addressOfPublicKey, parseAddress } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { Address } from '@scure/btc-signer';
import { hexToBytes } from '@noble/hashes/utils.js';
import { mainnet, REGTEST, regtest, stranger } from '../cast.ts';

test.each([
  ['P2PKH', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['P2SH', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy'],
  // Valid addresses from BIP-173 and BIP-350.
  ['P2WPKH', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['P2WSH', 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3'],
  ['P2TR', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
])('an address of %s is accepted and returned in lower case', (_name, text) => {
  expect(parseAddress(mainnet, text)).toEqual({ ok: true, value: text });
  if (text.startsWith('bc1')) expect(parseAddress(mainnet, text.toUpperCase())).toEqual({ ok: true, value: text });
});

test.each<[string, string, string]>([
  ['another network', stranger(regtest), 'other-network'],
  ['a test network', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', 'other-network'],
  ['a mistyped one', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5', 'bad-checksum'],
  ['a mistyped one of old', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb', 'bad-checksum'],
  // BIP-350: version 1 requires the checksum of bech32m.
  [
    'P2TR with the checksum of bech32',
    'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
    'bad-checksum',
  ],
  ['both cases', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7KV8F3T4', 'malformed'],
  ['an address of Ethereum', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'malformed'],
  // A pay-to-anchor address: any spender can spend its outputs.
  ['P2A', 'bc1pfeessrawgf', 'malformed'],
  ['nothing', '', 'malformed'],
  ['a space around it', ' bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'malformed'],
])('the address %s is refused', (_name, text, refusal) => {
  expect(parseAddress(mainnet, text)).toEqual({ ok: false, refusal });
});

test.each([
  ['5, which is on no curve', 5n],
  ['larger than the field', 2n ** 256n - 1n],
])('a P2TR address with an x-coordinate that is %s is refused, because no key exists for it', (_name, x) => {
  const pubkey = hexToBytes(x.toString(16).padStart(64, '0'));
  const address = Address(mainnet).encode({ type: 'tr', pubkey });
  expect(parseAddress(mainnet, address)).toEqual({ ok: false, refusal: 'malformed' });
});

test('an output key has the address that BIP-350 gives for it', () => {
  const generator = hexToBytes('0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798');
  expect(addressOfPublicKey(mainnet, generator)).toBe('bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0');
  expect(addressOn(REGTEST, 'frost-secp256k1-tr', generator)).toBe(addressOfPublicKey(regtest, generator));
  expect(() => addressOfPublicKey(mainnet, new Uint8Array(33))).toThrow();
});

test.each([
  'bip122:ffffffff9019d6689c085ae165831e93',
  'bip122:000000000019D6689C085AE165831E93',
  'bip122:',
  'bitcoin',
  '',
])('the chain id %j is not a network of Bitcoin', (caip2) => {
  expect(networkOf(caip2)).toBeNull();
});
