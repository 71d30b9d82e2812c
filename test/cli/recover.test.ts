import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { chainsFrom } from '#chains/registry.ts';
import { recovered } from '#cli/recover.ts';
import { walletKey } from '#mpc/derivation.ts';
import type { RecoveryPackage } from '#mpc/recovery.ts';
import { recoveryPackageBytes, sealForRecovery } from '#mpc/recovery.ts';
import { dealKey, party } from '../mpc/dealt-key.ts';
import { ed25519, x25519 } from '@noble/curves/ed25519.js';

/**
 * Covers the recovery packages of a P2WPKH vault: they give the wallet of each network, and its
 * former wallet.
 */

const scheme = 'ecdsa-secp256k1';
const networks = chainsFrom({}).filter(({ family }) => family === 'bitcoin');
const tests = networks.filter(({ name }) => name !== 'bitcoin');

const identities = new Map([1, 2].map((index) => [index, ed25519.keygen()] as const));
const signingKeys = new Map([...identities].map(([index, { publicKey }]) => [index, bytesToHex(publicKey)] as const));

function signed(one: Omit<RecoveryPackage, 'signature'>): RecoveryPackage {
  const { secretKey } = identities.get(one.node) ?? ed25519.keygen();
  return { ...one, signature: bytesToHex(ed25519.sign(recoveryPackageBytes(one), secretKey)) };
}

async function opened() {
  const { secretKey, publicKey } = x25519.keygen();
  const parties = [party(1), party(2)];
  const dealt = dealKey(2, parties);
  const packages = await Promise.all(
    parties.map(async (self) => {
      const share = { scheme, keyId: 'k', epoch: 1, self, threshold: 2, secret: dealt.shares.get(self) ?? 0n } as const;
      const { publicKey: key, publicShares } = dealt;
      return signed(await sealForRecovery(bytesToHex(publicKey), { ...share, publicKey: key, publicShares }));
    }),
  );
  const chains = networks.map(({ caip2 }) => caip2);
  const answer = await recovered([bytesToHex(secretKey)], packages, { chains, signingKeys });
  expect(answer.faults).toEqual([]);
  return { key: dealt.publicKey, wallets: answer.wallets };
}

test('both wallets of every test network are recovered, with the former one marked, and one wallet of mainnet', async () => {
  const { key, wallets } = await opened();
  const found = wallets.map(({ chain, address, isFormer = false }) => ({ chain, address, isFormer }));
  const on = (chain: string, publicKey: Uint8Array, isFormer: boolean) => ({
    chain,
    address: addressOn(chain, scheme, publicKey),
    isFormer,
  });
  const requested = networks.flatMap(({ name, caip2 }) => [
    on(caip2, walletKey({ scheme, publicKey: key }, caip2), false),
    ...(name === 'bitcoin' ? [] : [on(caip2, key, true)]),
  ]);
  expect([found, tests.length]).toEqual([requested, 3]);
});

test('each recovered secret belongs to the address beside it', async () => {
  for (const { chain, address, secret } of (await opened()).wallets) {
    expect(addressOn(chain, scheme, secp256k1.getPublicKey(hexToBytes(secret)))).toBe(address);
  }
});
