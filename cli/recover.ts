import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { walletShare } from '#mpc/derivation.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { RecoveryPackage } from '#mpc/recovery.ts';
import { recoveryPackageBytes } from '#mpc/recovery.ts';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';
import type { SigningKeys } from './peers-file.ts';
import { isSignedBy, signingKeysIn } from './peers-file.ts';
import { isSecretOf, openRecovery, rebuiltSecret } from './rebuild-key.ts';
import { type SecretScalar } from '#mpc/secret-scalar.ts';

export interface RecoveredWallet {
  readonly keyId: string;
  readonly scheme: string;
  readonly chain: string;
  readonly address: string;
  /**
   * Hex of 32 bytes: big-endian for secp256k1 (for taproot the key of the output), little-endian
   * for Ed25519, where it is the scalar.
   */
  readonly secret: string;
}

/**
 * Returns the wallets of the packages, and a text for each package or key that yields nothing.
 *
 * @param recoverySecrets hex of 32 bytes each. Every package is opened with the one that it was
 * sealed for. @param chains CAIP-2
 */
export async function recovered(
  recoverySecrets: readonly string[],
  packages: readonly RecoveryPackage[],
  { chains, signingKeys }: { readonly chains: readonly string[]; readonly signingKeys: SigningKeys },
): Promise<{ readonly wallets: readonly RecoveredWallet[]; readonly faults: readonly string[] }> {
  const wallets: RecoveredWallet[] = [];
  const faults: string[] = [];
  const secretOf = new Map(recoverySecrets.map((secret) => [publicHalf(secret), secret]));
  for (const [keyId, all] of Map.groupBy(packages, ({ keyId: id, epoch }) => `${id} of epoch ${epoch}`)) {
    const shares = new Map<PartyIndex, SecretScalar>();
    for (const one of all) {
      const recoverySecret = secretOf.get(one.recoveryKey);
      const party = parsePartyIndex(one.node);
      // The identity may have been rotated since. A share is compared with its public point anyway.
      if (!isSignedPackage(one, signingKeys))
        faults.push(`${keyId}, co-signer ${one.node}: not-signed-by-the-co-signer`);
      const share = recoverySecret === undefined ? 'another-recovery-key' : await openRecovery(recoverySecret, one);
      if (typeof share === 'string') faults.push(`${keyId}, co-signer ${one.node}: ${share}`);
      else if (party !== null) shares.set(party, share);
    }
    const [first] = all;
    const secret = first === undefined ? null : rebuiltSecret(first, shares);
    if (first === undefined || secret === null) {
      faults.push(
        `${keyId}: ${shares.size} shares found, but ${first?.threshold ?? 0} shares that match the key are required`,
      );
      continue;
    }
    wallets.push(...chains.flatMap((chain) => walletOn(first, secret, chain) ?? []));
  }
  return { wallets, faults };
}

function isSignedPackage(one: RecoveryPackage, signingKeys: SigningKeys): boolean {
  return isSignedBy(signingKeys.get(one.node), one.signature, recoveryPackageBytes(one));
}

/**
 * Returns the whole key of a wallet, or null for a chain that accepts no signature of this scheme.
 */
function walletOn(
  { scheme, keyId, epoch, publicKey }: RecoveryPackage,
  secret: SecretScalar,
  chain: string,
): RecoveredWallet | null {
  const self = parsePartyIndex(1);
  if (self === null) throw new Error('there is a first party');
  // The derivation from a vault's key to a wallet's is the same for the whole key as for a share.
  const whole = {
    scheme,
    keyId,
    epoch,
    self,
    threshold: 1,
    secret,
    publicKey: hexToBytes(publicKey),
    publicShares: new Map(),
  };
  const wallet = walletShare(whole, chain);
  const address = addressOn(chain, scheme, wallet.publicKey);
  if (address === null) return null;
  const text = inGroupOf(scheme, (group) => {
    if (!isSecretOf(group, wallet.secret, wallet.publicKey))
      throw new Error(`The key does not match the address ${address}.`);
    return bytesToHex(group.secrets.reveal(wallet.secret));
  });
  return { keyId, scheme, chain, address, secret: text };
}

/** Creates a key file that only its owner can read. Returns the public key in hex. */
export function newRecoveryKey(file: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  return hexOf(publicKey.export({ format: 'jwk' }).x);
}

/** Returns the secret key in hex. */
export function recoverySecretOf(file: string): string {
  const key = createPrivateKey(readFileSync(file, 'utf8'));
  if (key.asymmetricKeyType !== 'x25519' || createPublicKey(key).asymmetricKeyType !== 'x25519') {
    throw new Error('The recovery key is not an X25519 key.');
  }
  return hexOf(key.export({ format: 'jwk' }).d);
}

function publicHalf(recoverySecret: string): string {
  return bytesToHex(x25519.getPublicKey(hexToBytes(recoverySecret)));
}

function hexOf(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64url').toString('hex');
}

/**
 * `new` creates an offline key for each file and prints the public keys in that order: one for each
 * co-signer (RECOVERY_KEY), so that no secret alone opens more than one share. `verify` checks that
 * each co-signer signed its packages; run it after an export, it needs no secret. `open` rebuilds
 * keys from saved responses of `admin recovery export`, with the secrets of as many co-signers as
 * sign together. Run it on a machine without a network, after the service is lost: the printed keys
 * need no approval. Move the funds, and do not use the keys again.
 */
export const recoverCommand: Command = {
  usage: [
    '  npm run conclave -- recover new --key FILE...',
    '  npm run conclave -- recover verify --peers FILE PACKAGES_FILE...',
    '  npm run conclave -- recover open --key FILE... --peers FILE --chain CAIP2... PACKAGES_FILE...',
    '    --peers: the PEERS setting of the co-signers',
  ].join('\n'),
  run: runRecover,
};

async function runRecover(args: readonly string[]): Promise<void> {
  const several = { type: 'string', multiple: true } as const;
  const options = { key: several, chain: several, peers: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const [command, ...files] = positionals;
  const { key, chain, peers } = values;
  if (command === 'new' && key !== undefined && files.length === 0) {
    for (const file of key) console.log(newRecoveryKey(file));
  } else if (command === 'verify' && peers !== undefined && files.length > 0) {
    verifyPackages(packagesIn(files), signingKeysIn(peers));
  } else if (
    command === 'open' &&
    key !== undefined &&
    peers !== undefined &&
    chain !== undefined &&
    files.length > 0
  ) {
    const terms = { chains: chain, signingKeys: signingKeysIn(peers) };
    const { wallets, faults } = await recovered(key.map(recoverySecretOf), packagesIn(files), terms);
    for (const fault of faults) console.error(fault);
    console.log(JSON.stringify(wallets, null, 2));
    if (wallets.length === 0) process.exitCode = 1;
  } else {
    throw new UsageError('The arguments match no form of `recover`.');
  }
}

function packagesIn(files: readonly string[]): readonly RecoveryPackage[] {
  return files.flatMap((file) => (JSON.parse(readFileSync(file, 'utf8')) as { packages: RecoveryPackage[] }).packages);
}

/** Throws for a package that its co-signer did not sign, and for a co-signer without a package. */
function verifyPackages(packages: readonly RecoveryPackage[], signingKeys: SigningKeys): void {
  const keyIds = new Set(packages.map(({ keyId }) => keyId));
  const faults = [...keyIds].flatMap((keyId) =>
    [...signingKeys.keys()].flatMap((node) => {
      const own = packages.find((one) => one.keyId === keyId && one.node === node);
      if (own === undefined) return [`${keyId}, co-signer ${node}: no package`];
      return isSignedPackage(own, signingKeys) ? [] : [`${keyId}, co-signer ${node}: not signed by the co-signer`];
    }),
  );
  if (packages.length === 0) faults.push('The files have no packages.');
  if (faults.length > 0) throw new Error(faults.join('\n'));
  console.log(`Verified ${packages.length} packages of ${keyIds.size} keys.`);
}
