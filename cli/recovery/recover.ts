import { parseArgs } from 'node:util';
import { visibleText } from '#domain/visible-text.ts';
import { MAX_PARTY_INDEX } from '#mpc/party.ts';
import type { Command } from '../command-line.ts';
import { UsageError } from '../command-line.ts';
import { signingKeysIn } from '../peers-file.ts';
import { checkedPackages } from './check.ts';
import { newRecoveryKey, recoverySecretOf } from './key-file.ts';
import { recovered } from './open.ts';
import { packagesIn } from './package-file.ts';
import { verifiedPackages } from './verify.ts';
import type { ExpectedWallets } from './wallets.ts';
import { expectedWallets } from './wallets.ts';

/**
 * `new` creates an offline key for each file and prints the public keys in that order: one for each
 * co-signer (RECOVERY_KEY), so that no secret alone opens more than one share. `verify` checks that
 * the packages of an export fit together and are those of the co-signers; run it after an export,
 * it needs no secret. `check` opens the packages of one recovery key and prints no secret; each
 * holder of one runs it offline after an export. `open` rebuilds keys from saved responses of
 * `admin recovery export`, with the secrets of as many co-signers as sign together. Run it on a
 * machine without a network, after the service is lost: the printed keys need no approval. Move the
 * funds, and do not use the keys again.
 */
export const recoverCommand: Command = {
  usage: [
    '  npm run conclave -- recover new --key FILE...',
    '  npm run conclave -- recover verify --peers FILE [--recovery-key N=HEX...] [--chain CAIP2...]',
    '                      [--address ADDRESS...] PACKAGES_FILE...',
    '  npm run conclave -- recover check --key FILE --peers FILE [--chain CAIP2...] PACKAGES_FILE...',
    '  npm run conclave -- recover open --key FILE... --peers FILE --chain CAIP2... [--address ADDRESS...]',
    '                      PACKAGES_FILE...',
    '    --peers: the PEERS setting of the co-signers',
    '    --recovery-key: the number of a co-signer and its RECOVERY_KEY, for every co-signer',
    '    --address: every address of the vault on the chains of --chain',
  ].join('\n'),
  run: runRecover,
};

async function runRecover(args: readonly string[]): Promise<void> {
  const several = { type: 'string', multiple: true } as const;
  const options = { key: several, chain: several, address: several, 'recovery-key': several } as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { ...options, peers: { type: 'string' } },
    allowPositionals: true,
  });
  const [command, ...files] = positionals;
  const { key, chain, address, peers, 'recovery-key': recoveryKey } = values;
  const isOfFiles = peers !== undefined && files.length > 0;
  if (command === 'new' && Object.keys(values).every((name) => name === 'key') && files.length === 0 && key) {
    for (const file of key) console.log(newRecoveryKey(file));
  } else if (command === 'verify' && isOfFiles && key === undefined) {
    const recoveryKeys = recoveryKey === undefined ? null : recoveryKeysOf(recoveryKey);
    verifyFiles(files, { peers, recoveryKeys, wallets: expectedWallets(chain, address) });
  } else if (command === 'check' && isOfFiles && key?.length === 1 && !address && !recoveryKey) {
    await checkFiles(files, { peers, secrets: key.map(recoverySecretOf), wallets: expectedWallets(chain) });
  } else if (command === 'open' && isOfFiles && key && chain && recoveryKey === undefined) {
    await openFiles(files, { peers, secrets: key.map(recoverySecretOf), wallets: expectedWallets(chain, address) });
  } else {
    throw new UsageError('The arguments match no form of `recover`.');
  }
}

/** Parses `N=HEX` texts. Throws `UsageError`. */
function recoveryKeysOf(texts: readonly string[]): ReadonlyMap<number, string> {
  const keys = new Map<number, string>();
  for (const text of texts) {
    const [, number = '', hex = ''] = new RegExp(`^([1-${MAX_PARTY_INDEX}])=([0-9a-f]{64})$`).exec(text) ?? [];
    if (hex === '') throw new UsageError('--recovery-key has the form N=HEX: a co-signer, and 64 hex digits.');
    const cosigner = Number.parseInt(number, 10);
    if (keys.has(cosigner)) throw new UsageError(`--recovery-key names co-signer ${number} twice.`);
    keys.set(cosigner, hex);
  }
  return keys;
}

interface Verification {
  readonly peers: string;
  readonly recoveryKeys: ReadonlyMap<number, string> | null;
  readonly wallets: ExpectedWallets;
}

/** Throws an error with a line for each fault. */
function verifyFiles(files: readonly string[], { peers, recoveryKeys, wallets }: Verification): void {
  const { packages, unread } = packagesIn(files);
  const signingKeys = signingKeysIn(peers);
  const { lines, faults } = verifiedPackages(packages, { signingKeys, recoveryKeys, wallets });
  const all = [...unread.map(({ fault }) => fault), ...faults];
  if (all.length > 0) throw new Error(all.join('\n'));
  const keyCount = new Set(packages.map(({ keyId }) => keyId)).size;
  console.log(`Verified ${packages.length} packages of ${keyCount} keys.`);
  for (const line of lines) console.log(line);
  if (recoveryKeys === null)
    console.log('Recovery keys were not compared: name the RECOVERY_KEY of each co-signer with --recovery-key.');
  if (wallets.addresses.length === 0)
    console.log('Addresses were not compared: name every address of the vault with --chain and --address.');
}

interface Opening {
  readonly peers: string;
  readonly secrets: readonly string[];
  readonly wallets: ExpectedWallets;
}

/** Prints what opens. Throws an error with a line for each fault. */
async function checkFiles(files: readonly string[], { peers, secrets, wallets }: Opening): Promise<void> {
  const { packages, unread } = packagesIn(files);
  const terms = { signingKeys: signingKeysIn(peers), chains: wallets.chains };
  const faults = unread.map(({ fault }) => fault);
  for (const secret of secrets) {
    const checked = await checkedPackages(secret, packages, terms);
    for (const line of checked.lines) console.log(line);
    faults.push(...checked.faults);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/**
 * Prints the wallets. Fails unless every expected address has its key or, when none is named, every
 * key of the files was rebuilt from packages that enough co-signers signed.
 */
async function openFiles(files: readonly string[], { peers, secrets, wallets: expected }: Opening): Promise<void> {
  const { packages, unread } = packagesIn(files);
  const signingKeys = signingKeysIn(peers);
  const { wallets, faults, keyIds } = await recovered(secrets, packages, { ...expected, signingKeys });
  for (const fault of [...unread.map((one) => one.fault), ...faults]) console.error(visibleText(fault));
  console.log(JSON.stringify(wallets, null, 2));
  const named = [...packages, ...unread].map(({ keyId }) => keyId);
  const isComplete =
    expected.addresses.length > 0
      ? expected.addresses.every((address) => wallets.some((wallet) => wallet.address === address))
      : named.every((keyId) => keyId !== null && keyIds.has(keyId));
  if (wallets.length === 0 || !isComplete) process.exitCode = 1;
}
