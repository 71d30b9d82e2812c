import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { chainsFrom } from '#chains/registry.ts';
import { recovered } from '#cli/recover.ts';
import { walletKey } from '#mpc/derivation.ts';
import { sealForRecovery } from '#mpc/recovery.ts';
import { dealKey, party } from '../mpc/dealt-key.ts';
import { x25519 } from '@noble/curves/ed25519.js';

/**
 * Covers the recovery packages of a P2WPKH vault: they give the wallet of each network, and its
 * former wallet.
 */

const scheme = 'ecdsa-secp256k1';
const networks = chainsFrom({}).filter(({ family }) => family === 'bitcoin');
const tests = networks.filter(({ name }) => name !== 'bitcoin');

async function opened() {
  const { secretKey, publicKey } = x25519.keygen();
  const parties = [party(1), party(2)];
  const dealt = dealKey(2, parties);
  const packages = await Promise.all(
    parties.map((self) => {
      const share = { scheme, keyId: 'k', epoch: 1, self, threshold: 2, secret: dealt.shares.get(self) ?? 0n } as const;
      return sealForRecovery(bytesToHex(publicKey), {
        ...share,
        publicKey: dealt.publicKey,
        publicShares: dealt.publicShares,
      });
    }),
  );
  const answer = await recovered(
    [bytesToHex(secretKey)],
    packages,
    networks.map(({ caip2 }) => caip2),
  );
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
