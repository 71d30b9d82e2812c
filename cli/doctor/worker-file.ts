import { readFileSync } from 'node:fs';
import { parse } from 'smol-toml';
import * as z from 'zod';
import { jsonIn } from '#domain/json/untrusted-json.ts';

const consumer = z.object({
  queue: z.string(),
  max_batch_size: z.int().optional(),
  dead_letter_queue: z.string().optional(),
});

/** The parts of a configuration of wrangler that `doctor` checks. */
const workerFile = z.object({
  name: z.string(),
  vars: z.record(z.string(), z.string()).default({}),
  durable_objects: z.object({ bindings: z.array(z.object({ class_name: z.string() })) }),
  d1_databases: z.array(z.object({ binding: z.string(), database_id: z.string() })).default([]),
  services: z.array(z.object({ binding: z.string(), service: z.string() })).default([]),
  queues: z.object({ consumers: z.array(consumer).default([]) }).default({ consumers: [] }),
  triggers: z.object({ crons: z.array(z.string()).default([]) }).default({ crons: [] }),
  routes: z.array(z.union([z.string(), z.object({ pattern: z.string() })])).default([]),
  analytics_engine_datasets: z.array(z.object({ binding: z.string() })).default([]),
});

export type WorkerFile = z.infer<typeof workerFile>;

/** Reads a `wrangler.toml` or `wrangler.json`. Throws when it is neither, with its name alone. */
export function readWorkerFile(path: string): WorkerFile {
  const parsed = workerFile.safeParse(contentOf(path));
  if (parsed.success) return parsed.data;
  const at = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new Error(`${path} must be the configuration of a Worker, and '${at}' is not valid.`);
}

/** Reads the secrets of a Worker: the JSON object that `wrangler secret bulk` takes. */
export function readSecrets(path: string): Readonly<Record<string, string>> {
  const parsed = z.record(z.string(), z.string()).safeParse(jsonIn(readFileSync(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path} must be a JSON object of the names and values of secrets.`);
  return parsed.data;
}

function contentOf(path: string): unknown {
  const text = readFileSync(path, 'utf8');
  if (path.endsWith('.json')) return jsonIn(text);
  try {
    return parse(text);
  } catch {
    // Never the message: it quotes lines of the file.
    throw new Error(`${path} must be TOML.`);
  }
}

/** Reports whether the Worker is a co-signer. The other kind is the coordinator. */
export function isCosigner({ durable_objects: { bindings } }: WorkerFile): boolean {
  return bindings.some(({ class_name: name }) => name === 'CosignerObject');
}
