import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle, READY_BUNDLES } from '#local/stack/bundle.ts';

/** Builds both Workers once for all stacks of a test run: otherwise that is a third of its time. */
export async function setup(): Promise<() => Promise<void>> {
  // Two projects of one run ask for it.
  if (process.env[READY_BUNDLES] !== undefined) return async () => {};
  const folder = await mkdtemp(join(tmpdir(), 'conclave-bundles-'));
  await Promise.all([
    bundle('wrangler.toml', { main: 'worker.ts', folder }),
    bundle('deploy/cosigner.toml', { main: 'cosigner-worker.ts', folder }),
  ]);
  process.env[READY_BUNDLES] = folder;
  return () => rm(folder, { recursive: true, force: true });
}
