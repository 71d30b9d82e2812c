import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'smol-toml';
import type { MigratedDatabase } from './migrations.ts';

/** The sections of a written configuration that a local runtime needs. */
interface WrittenConfiguration {
  readonly name: string;
  readonly main: string;
  readonly compatibility_date: string;
  readonly compatibility_flags: readonly string[];
  readonly vars?: Readonly<Record<string, string>>;
  readonly assets?: { readonly directory: string };
  readonly d1_databases?: readonly Database[];
  readonly durable_objects?: { readonly bindings: readonly { readonly name: string; readonly class_name: string }[] };
  readonly queues?: { readonly producers: readonly Producer[]; readonly consumers: readonly Consumer[] };
  readonly services?: readonly { readonly binding: string; readonly service: string }[];
  readonly ratelimits?: readonly { readonly name: string; readonly namespace_id: string; readonly simple: object }[];
  readonly analytics_engine_datasets?: readonly { readonly binding: string; readonly dataset: string }[];
}

interface Database {
  readonly binding: string;
  readonly database_id: string;
  readonly migrations_dir?: string;
}

interface Producer {
  readonly binding: string;
  readonly queue: string;
}

interface Consumer {
  readonly queue: string;
  readonly max_batch_size: number;
  readonly max_batch_timeout: number;
  readonly max_retries?: number;
  readonly dead_letter_queue?: string;
}

/**
 * Sections without an option of the runtime: the platform, the bundler or other code reads them.
 */
const WITHOUT_OPTIONS = 'define limits main migrations minify name observability send_metrics triggers workers_dev';
const WITH_OPTIONS =
  'analytics_engine_datasets assets compatibility_date compatibility_flags d1_databases durable_objects queues ratelimits services vars';
const KNOWN = new Set(`${WITHOUT_OPTIONS} ${WITH_OPTIONS}`.split(' '));

export interface WorkerOptions {
  readonly name: string;
  /** Path of the entry that is bundled. */
  readonly main: string;
  /** Bindings and settings, in the shape of `convertV4MiniflareOptions`. */
  readonly options: object;
  readonly databases: readonly MigratedDatabase[];
}

/**
 * Returns what the local runtime needs of one Worker, from its configuration (JSON as `configure`
 * writes it, or TOML) and from the secrets beside it. A test compares it with the options that
 * wrangler makes of the same file: importing wrangler costs a second of CPU at every start. Throws
 * for an unknown section.
 */
export function workerOptionsOf(file: string): WorkerOptions {
  const text = readFileSync(file, 'utf8');
  const written = (file.endsWith('.toml') ? parse(text) : JSON.parse(text)) as WrittenConfiguration;
  const unknown = Object.keys(written).filter((key) => !KNOWN.has(key));
  if (unknown.length > 0) throw new Error(`${file}: the local stack does not support ${unknown.join(', ')}`);
  const { compatibility_date: compatibilityDate, compatibility_flags: compatibilityFlags, assets, queues } = written;
  const compatibility = { compatibility_date: compatibilityDate, compatibility_flags: compatibilityFlags };
  const options = {
    compatibilityDate,
    compatibilityFlags,
    bindings: { ...written.vars, ...secretsBeside(file) },
    d1Databases: byName(written.d1_databases, (row) => [row.binding, { id: row.database_id }]),
    durableObjects: byName(written.durable_objects?.bindings, (row) => [
      row.name,
      { className: row.class_name, useSQLite: true },
    ]),
    queueProducers: byName(queues?.producers, (row) => [row.binding, { queueName: row.queue }]),
    queueConsumers: byName(queues?.consumers, (row) => [row.queue, consumerOf(row)]),
    serviceBindings: byName(written.services, (row) => [row.binding, { name: row.service }]),
    ratelimits: byName(written.ratelimits, (row) => [row.name, { type: 'ratelimit', ...row }]),
    analyticsEngineDatasets: byName(written.analytics_engine_datasets, (row) => [
      row.binding,
      { dataset: row.dataset },
    ]),
    ...(assets === undefined
      ? {}
      : {
          assets: { directory: assets.directory, routerConfig: { has_user_worker: true }, assetConfig: compatibility },
        }),
  };
  const databases = (written.d1_databases ?? []).flatMap(({ database_id: id, migrations_dir: folder }) =>
    folder === undefined ? [] : [{ id, folder: resolve(dirname(file), folder) }],
  );
  return { name: written.name, main: resolve(dirname(file), written.main), options, databases };
}

function secretsBeside(file: string): NodeJS.Dict<string> {
  const secrets = join(dirname(file), '.dev.vars');
  return existsSync(secrets) ? parseEnv(readFileSync(secrets, 'utf8')) : {};
}

function consumerOf(row: Consumer): object {
  return {
    maxBatchSize: row.max_batch_size,
    maxBatchTimeout: row.max_batch_timeout,
    ...(row.max_retries === undefined ? {} : { maxRetries: row.max_retries }),
    ...(row.dead_letter_queue === undefined ? {} : { deadLetterQueue: row.dead_letter_queue }),
  };
}

function byName<T>(
  rows: readonly T[] | undefined,
  entry: (row: T) => readonly [string, object],
): Readonly<Record<string, object>> {
  return Object.fromEntries((rows ?? []).map(entry));
}
