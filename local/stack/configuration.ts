import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { parse } from 'smol-toml';
import { DEFAULT_QUOTAS } from '#domain/access/rate-limit.ts';
import { publicIdentity } from '#mpc/identity.ts';
import type { PushKeys } from '../../cli/push-keys.ts';
import { newPushKeys } from '../../cli/push-keys.ts';

/** The configuration of a local deployment. An operator makes the same by hand; docs/deploy.md. */
export interface Configuration {
  /** The file of each Worker, the coordinator first. */
  readonly files: readonly [coordinator: string, ...cosigners: string[]];
  /** The credential of the internal interface. */
  readonly serviceKey: string;
  /** Signs the reports of the monitor of the local chain. */
  readonly monitorSecret: string;
  /** Signs requests to co-signers that have pinned it. */
  readonly coordinatorSecret: string;
}

/**
 * The `rateLimits` of tests and benches that do not wait for quotas: none for access tokens and for
 * their creation in a session. Other requests of a session keep the quotas of the service.
 */
export const UNLIMITED: Readonly<Record<string, number>> = Object.fromEntries(
  [...Object.keys(DEFAULT_QUOTAS), 'session-token-secret'].map((policy) => [policy, 100_000_000]),
);

/** Several processes on this machine are several nodes, which the setting must state. */
export function rpcEntriesOf(rpcUrls: Settings['rpcUrls']) {
  const entryOf = (urls: readonly string[]) => (urls.length < 2 ? urls : { urls, providers: urls.length });
  return Object.fromEntries(Object.entries(rpcUrls).map(([name, urls]) => [name, entryOf(urls)]));
}

export interface Settings {
  /** Chain name to the addresses of its RPC nodes. */
  readonly rpcUrls: Readonly<Record<string, readonly string[]>>;
  /** Rate-limit policy to quota, where it differs from spec part 8. */
  readonly rateLimits?: Readonly<Record<string, number>>;
  /**
   * Asset to its price in US dollars (`eip155:31337`, `eip155:31337/erc20:0x...`); no asset has a
   * price when absent.
   */
  readonly prices?: Readonly<Record<string, string>>;
  /** Rows of the CHAINS setting; only the built-in ones when absent. */
  readonly chains?: readonly object[];
  /** Path of another entry of the coordinator, with which a test wraps it. */
  readonly entry?: string;
  /** Paths of other entries of the co-signers, in order. */
  readonly cosignerEntries?: readonly string[];
  /** Further variables of every Worker, for other entries. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Three when absent. */
  readonly cosigners?: number;
  /**
   * Number to origin of the co-signers that run elsewhere, as if in other accounts. They are not
   * configured here then.
   */
  readonly cosignerUrls?: Readonly<Record<string, string>>;
  /** The origin of the approval page; the dashboard requests passkeys itself when absent. */
  readonly approvalOrigin?: string;
  /** The LOGIN setting; no user can log in when absent. */
  readonly login?: object;
  /**
   * The recovery key of each co-signer, in order; '' for one that seals no shares. No co-signer
   * seals shares when absent.
   */
  readonly recoveryKeys?: readonly string[];
  /** ISO 8601: older shares are not used. */
  readonly sharesSince?: string;
  /** Co-signers accept only requests that the coordinator signed. */
  readonly isCoordinatorPinned?: boolean;
  /** Whether there are keys for push notifications; true when absent. */
  readonly notificationsEnabled?: boolean;
  /** Further endpoints of monitors, with the secret of the monitor of the local chain. */
  readonly furtherEndpoints?: readonly string[];
  /** The queue whose consumer is not deployed; each has one when absent. */
  readonly unconsumedQueue?: string;
  /** Whether the dashboard is served as well; true when absent. */
  readonly hasDashboard?: boolean;
}

interface Secrets {
  readonly tokenMacKey: string;
  readonly serviceKey: string;
  /**
   * The secret of the monitor of the local chain: `whsec_` and base64. Absent in an older folder.
   */
  readonly monitor?: string;
  /** Absent in an older folder. */
  readonly coordinator?: string;
  /** Absent in an older folder. */
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
 * Writes the configuration of the coordinator and its co-signers into a folder: the project's own
 * files with the settings of this machine, and secrets. The secrets are generated once and stay,
 * since stored data was sealed under them.
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
    ...(settings.unconsumedQueue === undefined ? {} : { unconsumedQueue: settings.unconsumedQueue }),
    changes: {
      ...(settings.entry === undefined ? {} : { main: settings.entry }),
      ...(hasDashboard ? {} : { assets: undefined }),
      services: secrets.cosigners.flatMap((_, i) => (isElsewhere(i + 1) ? [] : [bindingOf(i + 1)])),
      vars: {
        RPC_URLS: JSON.stringify(rpcEntriesOf(settings.rpcUrls)),
        CHAINS: JSON.stringify(settings.chains ?? []),
        PRICE_SOURCES:
          settings.prices === undefined ? '' : JSON.stringify([{ type: 'static', prices: settings.prices }]),
        APPROVAL_ORIGIN: settings.approvalOrigin ?? '',
        COSIGNER_URLS: JSON.stringify(cosignerUrls),
        RATE_LIMITS: settings.rateLimits === undefined ? '' : JSON.stringify(settings.rateLimits),
        ...settings.variables,
      },
    },
    secrets: {
      TOKEN_MAC_KEY: secrets.tokenMacKey,
      // The coordinator signs its requests only when a co-signer verifies the signatures.
      ...(isCoordinatorPinned || Object.keys(cosignerUrls).length > 0
        ? { COORDINATOR_SECRET: secrets.coordinator }
        : {}),
      WEBHOOK_ENDPOINTS: JSON.stringify(
        Object.fromEntries(
          [LOCAL_MONITOR, ...(settings.furtherEndpoints ?? [])].map((id) => [
            id,
            { provider: 'standard-webhooks', secrets: [secrets.monitor] },
          ]),
        ),
      ),
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
        ...(settings.cosignerEntries === undefined ? {} : { main: settings.cosignerEntries[i] }),
        vars: {
          NODE_INDEX: String(i + 1),
          PEERS: peers,
          RECOVERY_KEY: settings.recoveryKeys?.[i] ?? '',
          SHARES_SINCE: settings.sharesSince ?? '',
          COORDINATOR_KEY: isCoordinatorPinned ? publicIdentity(secrets.coordinator).signing : '',
          ...settings.variables,
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
    // Earlier secrets stay.
    ...known,
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(secrets, null, 2), { mode: OWNER_ONLY });
  return secrets;
}

interface WorkerFiles {
  /** Relative to the root of the project. */
  readonly template: string;
  readonly changes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly unconsumedQueue?: string;
}

/** The paths and the consumers of queues in a wrangler.toml. */
interface WorkerConfiguration {
  readonly main: string;
  readonly assets?: { readonly directory: string };
  readonly d1_databases?: readonly { readonly migrations_dir: string }[];
  readonly queues?: { readonly consumers?: readonly { readonly queue: string }[] };
}

/** Returns the path of the configuration. Secrets are beside it, where only wrangler reads them. */
function writeWorker(folder: string, { template, changes, secrets, unconsumedQueue }: WorkerFiles): string {
  mkdirSync(folder, { recursive: true });
  const source = join(PROJECT, template);
  const config = parse(readFileSync(source, 'utf8')) as unknown as WorkerConfiguration;
  const from = (path: string) => resolve(dirname(source), path);
  const databases = config.d1_databases?.map((row) => ({ ...row, migrations_dir: from(row.migrations_dir) }));
  const consumers = (config.queues?.consumers ?? []).filter(({ queue }) => queue !== unconsumedQueue);
  const written = {
    ...config,
    main: from(config.main),
    ...(config.assets === undefined ? {} : { assets: { directory: from(config.assets.directory) } }),
    ...(databases === undefined ? {} : { d1_databases: databases }),
    ...(config.queues === undefined ? {} : { queues: { ...config.queues, consumers } }),
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
