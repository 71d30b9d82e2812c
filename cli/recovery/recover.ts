import { parseArgs } from 'node:util';
import { visibleText } from '#domain/visible-text.ts';
import { MAX_PARTY_INDEX } from '#mpc/party.ts';
import type { Command } from '../command-line.ts';
import { commandNamed, EXIT_CODES, jsonText, UsageError } from '../command-line.ts';
import { OWN_NODE_USAGE } from '../own-node.ts';
import { signingKeysIn } from '../peers-file.ts';
import { confirm } from '../device/consent.ts';
import { broadcastAll } from './broadcast.ts';
import { chainTokens, recipientsOf } from './chain-address.ts';
import { checkedPackages } from './check.ts';
import { JOB_VERSION, jobIn, signedIn } from './job.ts';
import { newRecoveryKey, recoverySecretOf } from './key-file.ts';
import { recovered, rebuiltWallets } from './open.ts';
import { packagesIn } from './package-file.ts';
import { checkedJob, configuredCeilings, signedPayments, tableOf } from './sweep.ts';
import { verifiedPackages } from './verify.ts';
import type { ExpectedWallets } from './wallets.ts';
import { expectedWallets } from './wallets.ts';
import { configuredClients, watchedJob } from './watch.ts';

const START = 'node cli/conclave.ts recover';

/**
 * `new` creates an offline key for each file and prints the public keys in that order: one for each
 * co-signer (RECOVERY_KEY), so that no secret alone opens more than one share. `verify` checks that
 * the packages of an export fit together and are those of the co-signers; run it after an export,
 * it needs no secret. `check` opens the packages of one recovery key and prints no secret; each
 * holder of one runs it offline after an export. `open` rebuilds keys from saved responses of
 * `admin recovery export`, with the secrets of as many co-signers as sign together. Run it on a
 * machine without a network, after the service is lost: the printed keys need no approval.
 *
 * Three commands move everything out of the wallets and print no key. `watch` reads the chains and
 * writes unsigned payments. `sweep` rebuilds the keys offline as `open` does, checks the payments
 * as a co-signer does, and signs them. `broadcast` sends them.
 */
export const recoverCommand: Command = {
  usage: [
    `  ${START} new --key FILE...`,
    `  ${START} verify --peers FILE [--recovery-key N=HEX...] [--chain CAIP2...]`,
    '                      [--address ADDRESS...] PACKAGES_FILE...',
    `  ${START} check --key FILE --peers FILE [--chain CAIP2...] PACKAGES_FILE...`,
    `  ${START} open --key FILE... --peers FILE --chain CAIP2... [--address ADDRESS...]`,
    '                      PACKAGES_FILE...',
    `  ${START} watch --wallet CHAIN=ADDRESS... --to CHAIN=ADDRESS... [--token CHAIN=TOKEN...]`,
    '                      [--leave CHAIN=TOKEN...] [--include-may-carry-more]',
    `  ${START} sweep --key FILE... --peers FILE --to CHAIN=ADDRESS... --job FILE`,
    '                      [--token CHAIN=TOKEN...] [--address ADDRESS...] [--yes] PACKAGES_FILE...',
    `  ${START} broadcast SIGNED_FILE`,
    '    --peers: the PEERS setting of the co-signers',
    '    --recovery-key: the number of a co-signer and its RECOVERY_KEY, for every co-signer',
    '    --address: every address of the vault on the chains of --chain or --to',
    '    --to: the one address on a chain that receives everything',
    '    --token: a token that the service does not list; --leave: a listed token that stays',
    '    --include-may-carry-more: spends small UTXOs that may carry inscriptions or runes, too',
    '  `watch` and `broadcast` read RPC_URLS, and all three read CHAINS, from the environment. `sweep` reads MAX_FEES.',
    OWN_NODE_USAGE,
  ].join('\n'),
  ownNode: START,
  run: runRecover,
};

const several = { type: 'string', multiple: true } as const;
const OPTIONS = {
  key: several,
  chain: several,
  address: several,
  'recovery-key': several,
  peers: { type: 'string' },
  wallet: several,
  to: several,
  token: several,
  leave: several,
  'include-may-carry-more': { type: 'boolean' },
  job: { type: 'string' },
  yes: { type: 'boolean' },
} as const;

/** The options that each form allows. */
const FORMS: Readonly<Record<string, readonly (keyof typeof OPTIONS)[]>> = {
  new: ['key'],
  verify: ['peers', 'recovery-key', 'chain', 'address'],
  check: ['key', 'peers', 'chain'],
  open: ['key', 'peers', 'chain', 'address'],
  watch: ['wallet', 'to', 'token', 'leave', 'include-may-carry-more'],
  sweep: ['key', 'peers', 'to', 'token', 'job', 'address', 'yes'],
  broadcast: [],
};

async function runRecover(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  const [command = '', ...files] = positionals;
  const { key, chain, address, peers, 'recovery-key': recoveryKey, wallet, to, job } = values;
  const allowed: readonly string[] = commandNamed(FORMS, command) ?? [];
  const isForm = Object.keys(values).every((name) => allowed.includes(name));
  const isOfFiles = isForm && peers !== undefined && files.length > 0;
  if (command === 'new' && isForm && files.length === 0 && key) {
    for (const file of key) console.log(newRecoveryKey(file));
  } else if (command === 'verify' && isOfFiles) {
    const recoveryKeys = recoveryKey === undefined ? null : recoveryKeysOf(recoveryKey);
    verifyFiles(files, { peers, recoveryKeys, wallets: expectedWallets(chain, address) });
  } else if (command === 'check' && isOfFiles && key?.length === 1) {
    await checkFiles(files, { peers, secrets: key.map(recoverySecretOf), wallets: expectedWallets(chain) });
  } else if (command === 'open' && isOfFiles && key && chain) {
    await openFiles(files, { peers, secrets: key.map(recoverySecretOf), wallets: expectedWallets(chain, address) });
  } else if (command === 'watch' && isForm && files.length === 0 && wallet && to) {
    const { token = [], leave = [], 'include-may-carry-more': includeMayCarryMore = false } = values;
    const watched = await watchedJob({ wallet, to, token, leave, includeMayCarryMore });
    for (const line of watched.lines) console.error(line);
    console.log(jsonText(watched.job));
  } else if (command === 'sweep' && isOfFiles && key && to && job !== undefined) {
    const recipients = recipientsOf(to);
    const wallets = expectedWallets([...recipients.keys()], address);
    await sweepFiles(
      files,
      { peers, secrets: key.map(recoverySecretOf), wallets },
      { recipients, tokens: chainTokens('--token', values.token ?? []), job, yes: values.yes },
    );
  } else if (command === 'broadcast' && isForm && files.length === 1) {
    const [file = ''] = files;
    if (!(await broadcastAll(signedIn(file), configuredClients()))) process.exitCode = EXIT_CODES.failure;
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

interface Sweep {
  readonly recipients: ReturnType<typeof recipientsOf>;
  readonly tokens: ReturnType<typeof chainTokens>;
  /** The path of the job. */
  readonly job: string;
  readonly yes: boolean | undefined;
}

/**
 * Prints the signed transactions of a job, after the consent of the person. Nothing is signed
 * unless every payment of the job is right, and no secret is printed.
 */
async function sweepFiles(
  files: readonly string[],
  { peers, secrets, wallets: expected }: Opening,
  { recipients, tokens, job, yes }: Sweep,
): Promise<void> {
  const payments = jobIn(job);
  const feeCeilings = configuredCeilings();
  const { packages, unread } = packagesIn(files);
  const { wallets, faults } = await rebuiltWallets(secrets, packages, {
    ...expected,
    signingKeys: signingKeysIn(peers),
  });
  try {
    for (const fault of [...unread.map((one) => one.fault), ...faults]) console.error(visibleText(fault));
    const checked = checkedJob(payments, { wallets, recipients, tokens, feeCeilings });
    for (const line of tableOf(checked)) console.error(line);
    await confirm({ yes }, []);
    console.log(jsonText({ version: JOB_VERSION, transactions: signedPayments(checked) }));
  } finally {
    for (const { secret } of wallets) secret.wipe();
  }
}
