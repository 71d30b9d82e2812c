import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { walletShare } from '#mpc/derivation/derivation.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { parsePartyIndex, type PartyIndex } from '#mpc/party.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { type SecretScalar } from '#mpc/secret-scalar.ts';
import type { SigningKeys } from '../peers-file.ts';
import { publicHalf } from './key-file.ts';
import { isSecretOf, openRecovery, rebuiltSecret } from './rebuild-key.ts';
import type { Candidate } from './terms.ts';
import { candidatesOf, differences, isAgreed, isSignedPackage, termFaults } from './terms.ts';
import { missingAddresses } from './wallets.ts';

/** A wallet with its whole key. The caller wipes the secret after its last use. */
export interface RebuiltWallet {
  readonly keyId: string;
  readonly scheme: KeyScheme;
  /** CAIP-2 */
  readonly chain: string;
  readonly address: string;
  readonly secret: SecretScalar;
  /** 33 bytes, or 32 for Ed25519. */
  readonly publicKey: Uint8Array;
}

interface RecoveredWallet {
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

interface Rebuilt<W> {
  readonly wallets: readonly W[];
  /** A text for each package or key that yields nothing, and for each one that is not trusted. */
  readonly faults: readonly string[];
  /** The keys that were rebuilt, and that as many co-signers signed as sign together. */
  readonly keyIds: ReadonlySet<string>;
}

interface Terms {
  /** CAIP-2 */
  readonly chains: readonly string[];
  readonly signingKeys: SigningKeys;
  readonly addresses?: readonly string[];
}

/**
 * Returns the wallets of the packages with their secrets in hex, by the rules of `rebuiltWallets`.
 *
 * @param recoverySecrets hex of 32 bytes each
 */
export async function recovered(
  recoverySecrets: readonly string[],
  packages: readonly RecoveryPackage[],
  terms: Terms,
): Promise<Rebuilt<RecoveredWallet>> {
  const rebuilt = await rebuiltWallets(recoverySecrets, packages, terms);
  const wallets = rebuilt.wallets.map(({ keyId, scheme, chain, address, secret }) => {
    const text = inGroupOf(scheme, (group) => bytesToHex(group.secrets.reveal(secret)));
    return { keyId, scheme, chain, address, secret: text };
  });
  for (const { secret } of rebuilt.wallets) secret.wipe();
  return { ...rebuilt, wallets };
}

/**
 * Returns the wallets of the packages. A rebuilt key is the true one of its key id. Either as many
 * signatures as co-signers sign together, or an expected address, show that the id is of a vault:
 * an identity may have been rotated since the export, and anyone can seal a key of its own.
 *
 * @param recoverySecrets hex of 32 bytes each. Every package is opened with the one that it was
 * sealed for
 */
export async function rebuiltWallets(
  recoverySecrets: readonly string[],
  packages: readonly RecoveryPackage[],
  { chains, signingKeys, addresses = [] }: Terms,
): Promise<Rebuilt<RebuiltWallet>> {
  const wallets: RebuiltWallet[] = [];
  const faults: string[] = [];
  const keyIds = new Set<string>();
  const secretOf = new Map(recoverySecrets.map((secret) => [publicHalf(secret), secret]));
  for (const [keyId, all] of Map.groupBy(packages, (one) => one.keyId)) {
    const shares = new Map<RecoveryPackage, SecretScalar>();
    for (const one of all) {
      const name = `${keyName(one)}, co-signer ${one.node}`;
      if (!isSignedPackage(one, signingKeys)) faults.push(`${name}: not-signed-by-the-co-signer`);
      const recoverySecret = secretOf.get(one.recoveryKey);
      const share = recoverySecret === undefined ? 'another-recovery-key' : await openRecovery(recoverySecret, one);
      if (typeof share === 'string') faults.push(`${name}: ${share}`);
      else shares.set(one, share);
    }
    const key = rebuiltKey(candidatesOf(all, signingKeys), shares);
    for (const share of shares.values()) share.wipe();
    faults.push(...key.faults);
    if (key.secret === null) continue;
    const { secret, candidate } = key;
    const [first] = candidate.packages;
    const found = chains.flatMap((chain) => walletOn(first, secret, chain) ?? []);
    const isTrusted = isAgreed(candidate);
    if (isTrusted) keyIds.add(keyId);
    else faults.push(`${keyName(first)}: fewer co-signers signed it than sign together, so only --address shows it`);
    const trusted = found.filter(({ address }) => isTrusted || addresses.includes(address));
    wallets.push(...trusted);
    // On EVM chains and for P2WPKH on mainnet the secret of a wallet is that of the vault's key.
    const used = new Set(trusted.map((wallet) => wallet.secret));
    for (const unused of [secret, ...found.map((wallet) => wallet.secret)]) if (!used.has(unused)) unused.wipe();
  }
  faults.push(...missingAddresses({ chains, addresses }, wallets));
  return { wallets, faults, keyIds };
}

type RebuiltKey =
  | { readonly secret: SecretScalar; readonly candidate: Candidate; readonly faults: readonly string[] }
  | { readonly secret: null; readonly faults: readonly string[] };

/** Rebuilds a key from the first terms of which enough shares were opened. */
function rebuiltKey(candidates: readonly Candidate[], opened: ReadonlyMap<RecoveryPackage, SecretScalar>): RebuiltKey {
  const faults: string[] = [];
  for (const candidate of candidates) {
    const [first] = candidate.packages;
    const shares = sharesOf(candidate, opened);
    faults.push(...termFaults(first).map((fault) => `${stated(candidate)}: ${fault}`));
    // Any secret behind the public key of this id is the right one, whatever the terms are.
    const isOfItsKey = keyIdOf(first.scheme, hexToBytes(first.publicKey)) === first.keyId;
    const secret = isOfItsKey ? rebuiltSecret(first, shares) : null;
    if (secret !== null) return { secret, candidate, faults: [...others(candidates, candidate), ...termsOnly(first)] };
    faults.push(
      `${keyName(first)}: ${shares.size} shares found, but ${first.threshold} shares that match the key are required`,
    );
  }
  return { secret: null, faults };
}

function termsOnly(first: RecoveryPackage): readonly string[] {
  return termFaults(first).map((fault) => `${keyName(first)}: ${fault}`);
}

/** Returns a fault for each package that states other terms than those that rebuilt the key. */
function others(candidates: readonly Candidate[], used: Candidate): readonly string[] {
  const [first] = used.packages;
  return candidates
    .filter((one) => one !== used)
    .map((one) => `${stated(one)}: states another ${differences(one.packages[0], first)} than the others`);
}

function sharesOf(
  { packages }: Candidate,
  opened: ReadonlyMap<RecoveryPackage, SecretScalar>,
): ReadonlyMap<PartyIndex, SecretScalar> {
  const shares = new Map<PartyIndex, SecretScalar>();
  for (const one of packages) {
    const [party, share] = [parsePartyIndex(one.node), opened.get(one)];
    // Each share was compared with its public share, so two of one co-signer are equal.
    if (party !== null && share !== undefined) shares.set(party, share);
  }
  return shares;
}

function keyName({ keyId, epoch }: RecoveryPackage): string {
  return `${keyId} of epoch ${epoch}`;
}

function stated({ packages }: Candidate): string {
  const nodes = [...new Set(packages.map(({ node }) => node))].toSorted((a, b) => a - b);
  return `${keyName(packages[0])}, co-signer ${nodes.join(', ')}`;
}

/**
 * Returns the whole key of a wallet, or null for a chain that accepts no signature of this scheme.
 */
function walletOn(
  { scheme, keyId, epoch, publicKey }: RecoveryPackage,
  secret: SecretScalar,
  chain: string,
): RebuiltWallet | null {
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
  if (!inGroupOf(scheme, (group) => isSecretOf(group, wallet.secret, wallet.publicKey)))
    throw new Error(`The key does not match the address ${address}.`);
  return { keyId, scheme, chain, address, secret: wallet.secret, publicKey: wallet.publicKey };
}
