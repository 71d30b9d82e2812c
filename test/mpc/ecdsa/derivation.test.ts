import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE, numberToBytesBE } from '@noble/curves/utils.js';
import { bytesToHex, concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { GENESIS } from '#chains/bitcoin/rules/network.ts';
import { isBitcoinTestNetwork } from '#domain/asset/chain.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { modOrder, ORDER } from '#curve/scalar.ts';
import { parsePoint, Point } from '#mpc/secp256k1.ts';
import { taggedHash } from '#mpc/transcript.ts';
import { party } from '../dealt-key.ts';
import { accepted, freshTerms, onChain, openRoom, playRound1, playRound2, sign } from './signing-room.ts';
import { valueOf } from '../secret-values.ts';

/**
 * Tests the key of a vault on each network: DKLs23 signs with derived shares, and noble verifies
 * under a key that the test computes separately.
 */

const [alice, bob, carol] = [party(1), party(2), party(3)];
const room = openRoom(2, [alice, bob, carol]);

const BASE_CHAINS = [`bip122:${GENESIS.mainnet}`, 'eip155:1', 'eip155:11155111', 'eip155:31337'];
const TEST_NETWORKS = [
  `bip122:${GENESIS.testnet4}`,
  `bip122:${GENESIS.signet}`,
  `bip122:${GENESIS.regtest}`,
  // A network that no client knows must not have the key of mainnet.
  'bip122:000000000933ea01ad0ee984209779ba',
  `bip122:${GENESIS.mainnet.toUpperCase()}`,
];

/** Returns the public key by definition: of the whole secret plus H(key, chain). */
function expectedKey(chain: string): string {
  const { secretKey, publicKey } = room.key;
  const tweak = bytesToNumberBE(taggedHash('derivation/wallet', publicKey, utf8ToBytes(chain))) % ORDER;
  const secret = TEST_NETWORKS.includes(chain) ? modOrder(secretKey + tweak) : secretKey;
  return bytesToHex(secp256k1.getPublicKey(numberToBytesBE(secret, 32)));
}

const keyOn = (chain: string) => bytesToHex(onChain(room, chain).key.publicKey);

test('every test network of Bitcoin has a key of its own, and EVM chains and mainnet have the key of the vault', () => {
  for (const chain of [...BASE_CHAINS, ...TEST_NETWORKS]) {
    expect([chain, keyOn(chain), isBitcoinTestNetwork(chain)]).toEqual([
      chain,
      expectedKey(chain),
      TEST_NETWORKS.includes(chain),
    ]);
    const { publicKey } = room.key;
    expect(bytesToHex(walletKey({ scheme: 'ecdsa-secp256k1', publicKey }, chain))).toBe(keyOn(chain));
  }
  expect(new Set(BASE_CHAINS.map(keyOn))).toEqual(new Set([bytesToHex(room.key.publicKey)]));
  expect(new Set([...BASE_CHAINS, ...TEST_NETWORKS].map(keyOn)).size).toBe(1 + TEST_NETWORKS.length);
});

test('each derived share matches its public share, and any two of them form the derived key', () => {
  for (const chain of TEST_NETWORKS) {
    const { key } = onChain(room, chain);
    for (const self of [alice, bob, carol]) {
      const { secretShare, publicShares } = onChain(room, chain).sessionFor(self, [alice, bob, carol], freshTerms());
      expect(Point.multiple(secretShare).equals(parsePoint(publicShares.get(self)!)!)).toBe(true);
      expect(publicShares).toEqual(key.publicShares);
    }
    // Lagrange coefficients at zero for parties 1 and 3: 3/2 and -1/2.
    const half = (ORDER + 1n) / 2n;
    const sum = modOrder(3n * half * valueOf(key.shares.get(alice)!) - half * valueOf(key.shares.get(carol)!));
    expect(bytesToHex(secp256k1.getPublicKey(numberToBytesBE(sum, 32)))).toBe(expectedKey(chain));
  }
});

test('a signature of one network verifies under the key of that network and under no other', () => {
  for (const chain of [...BASE_CHAINS.slice(0, 1), ...TEST_NETWORKS]) {
    for (const signers of [
      [alice, bob],
      [alice, carol],
      [bob, carol],
    ]) {
      const digest = randomBytes(32);
      const { r, s } = accepted(sign(onChain(room, chain), signers, { digest }));
      const verifiesOn = [...BASE_CHAINS.slice(0, 1), ...TEST_NETWORKS].filter((other) =>
        secp256k1.verify(concatBytes(r, s), digest, onChain(room, other).key.publicKey, {
          prehash: false,
          lowS: true,
        }),
      );
      expect(verifiesOn).toEqual([chain]);
    }
  }
});

test('two signers on different networks make no signature, because the session names the key', () => {
  const [here, there] = [onChain(room, TEST_NETWORKS[0]!), onChain(room, TEST_NETWORKS[1]!)];
  const mixed = {
    ...here,
    sessionFor: (...[self, signers, terms]: Parameters<typeof here.sessionFor>) =>
      (self === alice ? here : there).sessionFor(self, signers, terms),
  };
  expect(() => playRound2(playRound1(mixed, [alice, bob], freshTerms()))).toThrow('sign-2/context');
});
