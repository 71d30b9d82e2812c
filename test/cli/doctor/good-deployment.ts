import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import { newCosignerSecrets, peersOf } from '#local/stack/configuration.ts';
import { publicIdentity } from '#mpc/identity.ts';
import { newPushKeys } from '../../../cli/push-keys.ts';

/** The parts of a configuration of wrangler that the cases change. */
export interface WorkerSettings {
  name: string;
  vars: Record<string, string>;
  secrets: Record<string, string>;
  services: { binding: string; service: string }[];
  routes: { pattern: string; custom_domain: boolean }[];
  queues: { consumers: { queue: string; max_batch_size?: number; dead_letter_queue?: string }[] };
  triggers: { crons: string[] };
  d1_databases: { binding: string; database_id: string }[];
}

export interface Deployment {
  readonly coordinator: WorkerSettings;
  readonly cosigners: readonly WorkerSettings[];
}

const SERVICE_KEY = 'service_key_of_the_tests';
const COORDINATOR_SECRET = 'ab'.repeat(32);
const COSIGNERS = [1, 2, 3, 4].map(newCosignerSecrets);
const PUSH_KEYS = newPushKeys('mailto:operator@example.com');

export const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

function templateOf(path: string) {
  return parse(readFileSync(path, 'utf8')) as unknown as WorkerSettings;
}

/** Returns the files of a deployment with four co-signers, in which nothing is wrong. */
export function goodDeployment(): Deployment {
  const coordinator = templateOf('wrangler.toml');
  const [database] = coordinator.d1_databases;
  return {
    coordinator: {
      ...coordinator,
      routes: [{ pattern: 'vaults.example.com', custom_domain: true }],
      d1_databases: [{ ...database, binding: 'DB', database_id: '01234567-89ab-cdef-0123-456789abcdef' }],
      vars: {
        ...coordinator.vars,
        RPC_URLS: JSON.stringify({ anvil: ['https://one.example', 'https://two.example/key'] }),
        APPROVAL_ORIGIN: 'https://approve.example.org',
        COSIGNER_URLS: '{"4":"https://c4.example.com"}',
      },
      secrets: {
        TOKEN_MAC_KEY: 'cd'.repeat(32),
        SERVICE_KEY_HASHES: hashOf(SERVICE_KEY),
        COORDINATOR_SECRET,
        LOGIN: '{"issuer":"https://login.example","clientId":"x"}',
        WEBHOOK_ENDPOINTS: '{"local":{"provider":"alchemy","secrets":["12345678"]}}',
        WEB_PUSH: JSON.stringify(PUSH_KEYS),
      },
    },
    cosigners: COSIGNERS.map(({ identity, keyEncryption }, i) => ({
      ...templateOf('deploy/cosigner.toml'),
      name: `conclave-cosigner-${i + 1}`,
      vars: {
        NODE_INDEX: String(i + 1),
        PEERS: peersOf(COSIGNERS),
        COORDINATOR_KEY: publicIdentity(COORDINATOR_SECRET).signing,
        RECOVERY_KEY: publicIdentity(hashOf(`recovery ${i}`)).exchange,
      },
      secrets: {
        IDENTITY_SECRET: identity,
        KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'first', secret: keyEncryption }]),
      },
    })),
  };
}
