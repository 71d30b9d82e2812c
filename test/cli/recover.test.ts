import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { chainsFrom } from '#chains/families/registry.ts';
import { recovered } from '#cli/recovery/open.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { recoveryPackageBytes, sealForRecovery } from '#mpc/recovery/package.ts';
import { dealKey, party } from '../mpc/dealt-key.ts';
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { SECRETS } from '#mpc/secp256k1.ts';

/** Covers the recovery packages of a P2WPKH vault: they give the wallet of each network. */

const scheme = 'ecdsa-secp256k1';
const networks = chainsFrom({}).filter(({ family }) => family === 'bitcoin');

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
      const share = {
        scheme,
        keyId: keyIdOf(scheme, dealt.publicKey),
        epoch: 1,
        self,
        threshold: 2,
        secret: dealt.shares.get(self) ?? SECRETS.of(0n),
      } as const;
      const { publicKey: key, publicShares } = dealt;
      return signed(await sealForRecovery(bytesToHex(publicKey), { ...share, publicKey: key, publicShares }));
    }),
  );
  const chains = networks.map(({ caip2 }) => caip2);
  const answer = await recovered([bytesToHex(secretKey)], packages, { chains, signingKeys });
  expect(answer.faults).toEqual([]);
  return { key: dealt.publicKey, wallets: answer.wallets };
}

test('one wallet of each network is recovered', async () => {
  const { key, wallets } = await opened();
  const found = wallets.map(({ chain, address }) => ({ chain, address }));
  const requested = networks.map(({ caip2: chain }) => {
    return { chain, address: addressOn(chain, scheme, walletKey({ scheme, publicKey: key }, chain)) };
  });
  expect([found, found.length]).toEqual([requested, 4]);
});

test('each recovered secret belongs to the address beside it', async () => {
  for (const { chain, address, secret } of (await opened()).wallets) {
    expect(addressOn(chain, scheme, secp256k1.getPublicKey(hexToBytes(secret)))).toBe(address);
  }
});
