import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { parse } from 'smol-toml';
import { publicIdentity } from '#mpc/identity.ts';
import type { PushKeys } from '../../cli/push-keys.ts';
import { newPushKeys } from '../../cli/push-keys.ts';

/** What a local deployment is made of. An operator makes the same by hand; docs/deploy.md. */
export interface Configuration {
  /** The file of each Worker, the coordinator first. */
  readonly files: readonly [coordinator: string, ...cosigners: string[]];
  /** Opens the internal interface. */
  readonly serviceKey: string;
  /** Signs what the monitor of the local chain reports. */
  readonly monitorSecret: string;
  /** Signs what is sent to co-signers that have pinned it. */
  readonly coordinatorSecret: string;
}

export interface Settings {
  /** Chain name to the addresses of its nodes. */
  readonly rpcUrls: Readonly<Record<string, readonly string[]>>;
  /** Rate-limit policy to quota, where it differs from spec part 8. */
  readonly rateLimits?: Readonly<Record<string, number>>;
  /** Asset to US dollars for a whole one (`eip155:31337`, `eip155:31337/erc20:0x...`); nothing has a price when absent. */
  readonly prices?: Readonly<Record<string, string>>;
  /** Rows of the CHAINS setting; the built-in ones as they are when absent. */
  readonly chains?: readonly object[];
  /** Path of another entry of the coordinator, which a test has put around it. */
  readonly entry?: string;
  /** Three when absent. */
  readonly cosigners?: number;
  /** Number to origin of those that run elsewhere, as if in other accounts; none of them is configured here then. */
  readonly cosignerUrls?: Readonly<Record<string, string>>;
  /** Of the approval page; the dashboard asks for passkeys itself when absent. */
  readonly approvalOrigin?: string;
  /** The LOGIN setting; nobody logs in when absent. */
  readonly login?: object;
  /** One for each co-signer, in order, that its shares are sealed for on demand; '' for one that seals none. None at all when absent. */
  readonly recoveryKeys?: readonly string[];
  /** ISO 8601: a share that was made before is not used. */
  readonly sharesSince?: string;
  /** Co-signers take nothing that the coordinator has not signed. */
  readonly isCoordinatorPinned?: boolean;
  /** Whether there are keys to tell browsers with; there are when absent. */
  readonly notificationsEnabled?: boolean;
  /** Whether the dashboard is served as well; it is when absent. */
  readonly hasDashboard?: boolean;
}

interface Secrets {
  readonly tokenMacKey: string;
  readonly serviceKey: string;
  /** Of the monitor of the local chain: `whsec_` and base64. Absent in a folder that is older than it. */
  readonly monitor?: string;
  /** Absent in a folder that is older than it. */
  readonly coordinator?: string;
  /** Absent in a folder that is older than it. */
  readonly push?: PushKeys;
  readonly cosigners: readonly CosignerSecrets[];
}

/** Hex of 32 bytes each. */
export interface CosignerSecrets {
  readonly identity: string;
  readonly keyEncryption: string;
}

export function newCosignerSecrets(): CosignerSecrets {
  return { identity: randomHex(32), keyEncryption: randomHex(32) };
}

/** Returns the PEERS setting of co-signers with these secrets, in order: number to public keys. */
export function peersOf(cosigners: readonly CosignerSecrets[]): string {
  return JSON.stringify(
    Object.fromEntries(cosigners.map(({ identity }, i) => [String(i + 1), publicIdentity(identity)])),
  );
}

/** The endpoint of the monitor of the local chain. */
export const LOCAL_MONITOR = 'local';

const PROJECT = resolve(import.meta.dirname, '..', '..');
const OWNER_ONLY = 0o600;

/**
 * Writes the configuration of the coordinator and its co-signers into a folder: the project's own files with the settings of
 * this machine, and secrets that are drawn once and stay, since what is stored was sealed under them.
 */
export function configure(folder: string, settings: Settings): Configuration {
  const {
    cosigners: count = 3,
    cosignerUrls = {},
    isCoordinatorPinned = false,
    notificationsEnabled = true,
  } = settings;
  const { hasDashboard = true } = settings;
  const secrets = secretsOf(folder, count);
  const isElsewhere = (index: number) => String(index) in cosignerUrls;
  const peers = peersOf(secrets.cosigners);
  const coordinator = writeWorker(join(folder, 'coordinator'), {
    template: 'wrangler.toml',
    changes: {
      ...(settings.entry === undefined ? {} : { main: settings.entry }),
      ...(hasDashboard ? {} : { assets: undefined }),
      services: secrets.cosigners.flatMap((_, i) => (isElsewhere(i + 1) ? [] : [bindingOf(i + 1)])),
      vars: {
        RPC_URLS: JSON.stringify(settings.rpcUrls),
        CHAINS: JSON.stringify(settings.chains ?? []),
        PRICE_SOURCES:
          settings.prices === undefined ? '' : JSON.stringify([{ type: 'static', prices: settings.prices }]),
        APPROVAL_ORIGIN: settings.approvalOrigin ?? '',
        COSIGNER_URLS: JSON.stringify(cosignerUrls),
        RATE_LIMITS: settings.rateLimits === undefined ? '' : JSON.stringify(settings.rateLimits),
      },
    },
    secrets: {
      TOKEN_MAC_KEY: secrets.tokenMacKey,
      // Nobody looks at signatures that nobody has asked for.
      ...(isCoordinatorPinned || Object.keys(cosignerUrls).length > 0
        ? { COORDINATOR_SECRET: secrets.coordinator }
        : {}),
      WEBHOOK_ENDPOINTS: JSON.stringify({
        [LOCAL_MONITOR]: { provider: 'standard-webhooks', secrets: [secrets.monitor] },
      }),
      LOGIN: settings.login === undefined ? '' : JSON.stringify(settings.login),
      WEB_PUSH: notificationsEnabled ? JSON.stringify(secrets.push) : '',
      SERVICE_KEY_HASHES: createHash('sha256').update(secrets.serviceKey).digest('hex'),
    },
  });
  const cosigners = secrets.cosigners.map(({ identity, keyEncryption }, i) =>
    writeWorker(join(folder, `cosigner-${i + 1}`), {
      template: 'deploy/cosigner.toml',
      changes: {
        name: `conclave-cosigner-${i + 1}`,
        vars: {
          NODE_INDEX: String(i + 1),
          PEERS: peers,
          RECOVERY_KEY: settings.recoveryKeys?.[i] ?? '',
          SHARES_SINCE: settings.sharesSince ?? '',
          COORDINATOR_KEY: isCoordinatorPinned ? publicIdentity(secrets.coordinator).signing : '',
        },
      },
      secrets: {
        IDENTITY_SECRET: identity,
        KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'local-1', secret: keyEncryption }]),
      },
    }),
  );
  const here = cosigners.filter((_, i) => !isElsewhere(i + 1));
  const { serviceKey, monitor: monitorSecret, coordinator: coordinatorSecret } = secrets;
  return { files: [coordinator, ...here], serviceKey, monitorSecret, coordinatorSecret };
}

function bindingOf(index: number) {
  return { binding: `COSIGNER_${index}`, service: `conclave-cosigner-${index}` };
}

function secretsOf(folder: string, count: number): Required<Secrets> {
  const file = join(folder, 'secrets.json');
  const known: Partial<Secrets> = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Secrets) : {};
  const secrets: Required<Secrets> = {
    tokenMacKey: randomHex(32),
    serviceKey: `service_key_${randomHex(32)}`,
    monitor: `whsec_${Buffer.from(randomBytes(32)).toString('base64')}`,
    coordinator: randomHex(32),
    push: newPushKeys('mailto:operator@localhost'),
    cosigners: Array.from({ length: count }, newCosignerSecrets),
    // What was drawn before stays.
    ...known,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(secrets, null, 2), { mode: OWNER_ONLY });
  return secrets;
}

interface WorkerFiles {
  /** From the top of the project. */
  readonly template: string;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** What of a wrangler.toml names a path. */
interface WorkerConfiguration {
  readonly main: string;
  readonly assets?: { readonly directory: string };
  readonly d1_databases?: readonly { readonly migrations_dir: string }[];
}

/** Gives the path of the configuration. Secrets stand beside it, where wrangler reads them and nobody else. */
function writeWorker(folder: string, { template, changes, secrets }: WorkerFiles): string {
  mkdirSync(folder, { recursive: true });
  const source = join(PROJECT, template);
  const config = parse(readFileSync(source, 'utf8')) as unknown as WorkerConfiguration;
  const from = (path: string) => resolve(dirname(source), path);
  const databases = config.d1_databases?.map((row) => ({ ...row, migrations_dir: from(row.migrations_dir) }));
  const written = {
    ...config,
    main: from(config.main),
    ...(config.assets === undefined ? {} : { assets: { directory: from(config.assets.directory) } }),
    ...(databases === undefined ? {} : { d1_databases: databases }),
    ...changes,
  };
  const lines = Object.entries(secrets).map(([name, value]) => `${name}='${value}'\n`);
  writeFileSync(join(folder, '.dev.vars'), lines.join(''), { mode: OWNER_ONLY });
  const file = join(folder, 'wrangler.json');
  writeFileSync(file, JSON.stringify(written, null, 2));
  return file;
}

function randomHex(bytes: number): string {
  return bytesToHex(randomBytes(bytes));
}
