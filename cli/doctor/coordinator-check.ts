import { createHash } from 'node:crypto';
import { chainsWithOneNode } from '#chains/clients/client-for.ts';
import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';
import { QUEUES } from '#domain/operations/queue.ts';
import { settingFaults } from '#http/internal/setting-faults.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { Finding } from './finding.ts';
import type { WorkerFile } from './worker-file.ts';

type Secrets = Readonly<Record<string, string>>;

/** Settings that the coordinator needs for any payment. */
const REQUIRED = ['RPC_URLS', 'TOKEN_MAC_KEY', 'SERVICE_KEY_HASHES'];

/** Settings with a secret in their value. As variables, everyone in the account reads them. */
const SECRET = [
  'TOKEN_MAC_KEY',
  'SERVICE_KEY_HASHES',
  'COORDINATOR_SECRET',
  'WEBHOOK_ENDPOINTS',
  'LOGIN',
  'WEB_PUSH',
  'HEARTBEAT_URL',
  'ALERT_WEBHOOK',
  'EMAIL_NOTIFICATIONS',
];

/** Settings that are a secret where an address in them has a key. */
const MAYBE_SECRET = ['RPC_URLS', 'PRICE_SOURCES'];

/** Jobs of these queues need the calls, or the CPU time, of an invocation alone. */
const ALONE: readonly string[] = ['signing', 'activity'];

const NO_DATABASE = '00000000-0000-0000-0000-000000000000';

/**
 * Returns what is wrong with the configuration of a coordinator.
 *
 * @param secrets null when they are not given: then only the settings in the file are checked
 */
export function checkCoordinator(file: WorkerFile, secrets: Secrets | null): readonly Finding[] {
  const fault = (name: string, detail: string): Finding => ({ level: 'fault', part: file.name, name, detail });
  return [
    ...settingsOf(file, secrets),
    ...queuesOf(file),
    ...(file.triggers.crons.includes('* * * * *')
      ? []
      : [fault('triggers', 'No cron runs each minute, so lost work never goes on and no alert is found.')]),
    ...(file.d1_databases.some(({ binding, database_id: id }) => binding === 'DB' && id !== NO_DATABASE)
      ? []
      : [fault('DB', 'The binding DB has no id of a database.')]),
    ...ownOriginOf(file),
    ...(file.analytics_engine_datasets.some(({ binding }) => binding === 'METRICS')
      ? []
      : [{ level: 'warning', part: file.name, name: 'METRICS', detail: 'No metrics are counted.' } as const]),
  ];
}

function settingsOf(file: WorkerFile, secrets: Secrets | null): readonly Finding[] {
  const { name: part, vars, services } = file;
  const bindings = Object.fromEntries(services.map(({ binding, service }) => [binding, { service }]));
  // Whether a secret is set is not known without the secrets.
  const assumed = secrets === null ? { COORDINATOR_SECRET: 'ab'.repeat(32) } : {};
  const env: Readonly<Record<string, unknown>> = { ...bindings, ...assumed, ...vars, ...secrets };
  const isKnown = (name: string) => secrets !== null || name in vars || ![...SECRET, ...MAYBE_SECRET].includes(name);
  // The checks read text alone. What they would call is never called.
  const faults = settingFaults(env as unknown as CoordinatorEnv).filter(({ name }) => isKnown(name));
  const missing = REQUIRED.filter((name) => isKnown(name) && isEmpty(env[name]));
  const inFile = SECRET.filter((name) => !isEmpty(vars[name]));
  const twice = Object.keys(secrets ?? {}).filter((name) => name in vars);
  const found = [
    ...faults.map(({ name, fault }) => ({ name, detail: fault })),
    ...missing
      .filter((name) => !faults.some((one) => one.name === name))
      .map((name) => ({ name, detail: `${name} is empty.` })),
    ...inFile.map((name) => ({ name, detail: `${name} must be a secret, and is a variable in the file.` })),
    ...twice.map((name) => ({ name, detail: `${name} is a secret and a variable. A deployment keeps the variable.` })),
    ...(isWeak(env['SERVICE_KEY_HASHES'])
      ? [{ name: 'SERVICE_KEY_HASHES', detail: 'SERVICE_KEY_HASHES must not have the hash of a key of one character.' }]
      : []),
    ...boundTwice(services),
  ];
  return [...found.map((one) => ({ level: 'fault', part, ...one }) as const), ...singleNodesIn(part, env)];
}

/** A hash does not show its key, except of one that everyone can guess. */
function isWeak(setting: unknown): boolean {
  if (typeof setting !== 'string') return false;
  const characters = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i));
  return ['', ...characters].some((key) => setting.includes(createHash('sha256').update(key).digest('hex')));
}

function singleNodesIn(part: string, env: Readonly<Record<string, unknown>>): readonly Finding[] {
  const setting = env['RPC_URLS'];
  if (typeof setting !== 'string') return [];
  return chainsOf(setting).map((chain) => {
    const detail = `${chain} has one RPC node, which decides alone.`;
    return { level: 'warning', part, name: 'RPC_URLS', detail };
  });
}

/** Returns the chains with one RPC node; none of a setting that is refused. */
function chainsOf(setting: string): readonly string[] {
  try {
    return chainsWithOneNode({ RPC_URLS: setting });
  } catch {
    return [];
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'string' || value.trim() === '') return true;
  const json = jsonIn(value);
  return isJsonObject(json) && Object.keys(json).length === 0;
}

function boundTwice(services: WorkerFile['services']) {
  const byService = Map.groupBy(
    services.filter(({ binding }) => binding.startsWith('COSIGNER_')),
    ({ service }) => service,
  );
  return [...byService].flatMap(([service, bindings]) =>
    bindings.length < 2
      ? []
      : [{ name: bindings.map(({ binding }) => binding).join(', '), detail: `${service} is bound twice.` }],
  );
}

function queuesOf({ name: part, queues: { consumers } }: WorkerFile): readonly Finding[] {
  return QUEUES.flatMap((queue): readonly Finding[] => {
    const name = `conclave-${queue}`;
    const own = consumers.find((one) => one.queue === name);
    const fault = (detail: string): Finding => ({ level: 'fault', part, name, detail });
    if (own === undefined) return [fault('The queue has no consumer.')];
    const dead = own.dead_letter_queue;
    return [
      ...(ALONE.includes(queue) && own.max_batch_size !== 1 ? [fault('max_batch_size must be 1.')] : []),
      ...(dead === undefined ? [fault('The queue has no dead-letter queue, so failed messages are lost.')] : []),
      ...(dead !== undefined && !consumers.some((one) => one.queue === dead)
        ? [fault(`Its dead-letter queue ${dead} has no consumer.`)]
        : []),
    ];
  });
}

/** The page protects signers from the coordinator only while the coordinator cannot change it. */
function ownOriginOf({ name: part, vars, routes }: WorkerFile): readonly Finding[] {
  const hosts = routes.map((route) => (typeof route === 'string' ? route : route.pattern).split('/')[0]);
  const own = (vars['APPROVAL_ORIGIN'] ?? '').split(' ').filter((text) => URL.canParse(text));
  if (!own.some((text) => hosts.includes(new URL(text).host))) return [];
  const detail = 'APPROVAL_ORIGIN must be a host that the coordinator does not serve.';
  return [{ level: 'fault', part, name: 'APPROVAL_ORIGIN', detail }];
}
