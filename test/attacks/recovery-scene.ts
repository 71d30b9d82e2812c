import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { vi } from 'vitest';
import { conclave } from '#cli/conclave.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { recoveryPackageBytes, sealForRecovery } from '#mpc/recovery/package.ts';
import type { KeyShare } from '#mpc/share.ts';
import type { DealtKey } from '../mpc/dealt-key.ts';
import { dealKey, party } from '../mpc/dealt-key.ts';

export const CHAIN = 'eip155:1';
const SCHEME = 'ecdsa-secp256k1';

export type Recovery = Awaited<ReturnType<typeof startRecovery>>;

/**
 * Co-signers that export a dealt key, and a folder with what the operator of an export has: the
 * PEERS setting and a recovery key of each co-signer.
 */
export async function startRecovery(count: number, threshold: number) {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-recovery-'));
  const parties = Array.from({ length: count }, (_, i) => party(i + 1));
  const identities = parties.map(() => ed25519.keygen());
  const path = (name: string) => join(folder, name);
  const keyFiles = parties.map((index) => path(`recovery-${index}.pem`));
  const made = await offline('recover', 'new', ...keyFiles.flatMap((file) => ['--key', file]));
  const recoveryKeys = made.output.trim().split('\n');
  const peersFile = path('peers.json');
  const peers = identities.map(({ publicKey }, i) => [i + 1, { signing: bytesToHex(publicKey) }] as const);
  await writeFile(peersFile, JSON.stringify(Object.fromEntries(peers)));
  let written = 0;

  const signed = (one: Omit<RecoveryPackage, 'signature'>): RecoveryPackage => {
    const secretKey = identities[one.node - 1]?.secretKey ?? new Uint8Array(32);
    return { ...one, signature: bytesToHex(ed25519.sign(recoveryPackageBytes(one), secretKey)) };
  };
  const shareOf = (dealt: DealtKey, index: number, epoch = 1): KeyShare => {
    const secret = dealt.shares.get(party(index));
    if (secret === undefined) throw new Error(`co-signer ${index} has no share`);
    const { publicKey, publicShares } = dealt;
    const keyId = keyIdOf(SCHEME, publicKey);
    return { scheme: SCHEME, keyId, epoch, self: party(index), threshold, secret, publicKey, publicShares };
  };
  /** Returns what the co-signers with these shares of a key export. */
  const exportedShares = (shares: readonly KeyShare[]) =>
    Promise.all(shares.map(async (share) => signed(await sealForRecovery(recoveryKeys[share.self - 1] ?? '', share))));
  return {
    keyFiles,
    recoveryKeys,
    peersFile,
    signed,
    shareOf,
    /** Returns a new key, or with a secret key the shares of this key after a refresh. */
    deal: (secretKey?: bigint) => dealKey(threshold, parties, secretKey),
    /** Returns what the co-signers export of a key. */
    exported: (dealt: DealtKey, epoch = 1) => exportedShares(parties.map((index) => shareOf(dealt, index, epoch))),
    exportedShares,
    /** Writes packages as the coordinator answers an export. Returns the path of the file. */
    file: async (packages: readonly unknown[]) => {
      const file = path(`export-${(written += 1)}.json`);
      await writeFile(file, JSON.stringify({ packages, missing: [] }));
      return file;
    },
    verify: (...words: readonly string[]) => offline('recover', 'verify', '--peers', peersFile, ...words),
    /** Opens packages with all recovery keys. */
    open: (...words: readonly string[]) =>
      offline(
        'recover',
        'open',
        ...keyFiles.flatMap((key) => ['--key', key]),
        '--peers',
        peersFile,
        '--chain',
        CHAIN,
        ...words,
      ),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Returns the address of a dealt key on `CHAIN`. */
export function addressOf({ publicKey }: DealtKey): string {
  const address = addressOn(CHAIN, SCHEME, publicKey);
  if (address === null) throw new Error('the scheme has an address on this chain');
  return address;
}

/** Returns the addresses that `recover open` printed. */
export function addressesIn(output: string): readonly string[] {
  return (JSON.parse(output) as readonly { readonly address: string }[]).map(({ address }) => address);
}

/** Runs a command of recovery in this process, without a service. */
export async function offline(...args: readonly string[]) {
  const lines = { output: [] as string[], errors: [] as string[] };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.output.push(`${String(line)}\n`)),
    vi.spyOn(console, 'error').mockImplementation((line: unknown) => void lines.errors.push(`${String(line)}\n`)),
  ];
  process.exitCode = 0;
  try {
    await conclave([...args, '--bundled-node']);
    return { code: process.exitCode, output: lines.output.join(''), errors: lines.errors.join('') };
  } finally {
    process.exitCode = 0;
    for (const spy of spies) spy.mockRestore();
  }
}
