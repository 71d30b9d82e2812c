import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { pairNextCosigners } from '#jobs/keys/pair-cosigners.ts';
import { configure } from '#local/stack/configuration.ts';
import { startRuntime } from '#local/stack/runtime.ts';
import { stopped } from '#local/stack/stopped.ts';
import { party } from '../mpc/dealt-key.ts';
import { onceInRun } from './once-in-run.ts';

/**
 * Fills a new folder with the secrets and the storage of `count` co-signers, all paired with each
 * other. One pairing costs a second of CPU, and fifty test files of a run need the same co-signers.
 * The folder stays empty where the processes of a run share nothing: the first key generation then
 * pairs the co-signers.
 */
export async function copyPairedCosigners(folder: string, count: number): Promise<void> {
  const ready = await onceInRun(`cosigners-${count}`, (fresh) => pairAll(fresh, count));
  if (ready === null) return;
  for (const name of ['secrets.json', 'state']) await cp(join(ready, name), join(folder, name), { recursive: true });
}

async function pairAll(folder: string, count: number): Promise<void> {
  const { files, coordinatorSecret } = configure(folder, { rpcUrls: {}, cosigners: count, isCoordinatorPinned: true });
  await using started = new AsyncDisposableStack();
  const runtime = started.adopt(await startRuntime(files.slice(1), { folder }), stopped);
  const cosigners = runtime.ports.map((port, i) =>
    cosignerClient(party(i + 1), { origin: `http://127.0.0.1:${port}`, coordinatorSecret }),
  );
  await pairEvery(cosigners);
}

/**
 * Pairs all co-signers that are not paired, or whose setup is stale. Throws the refusal of a
 * co-signer that does not pair.
 */
export async function pairEvery(cosigners: readonly CosignerClient[], stale?: ReadonlySet<string>): Promise<void> {
  for (;;) {
    const paired = await pairNextCosigners(cosigners, stale);
    if (!paired.ok) throw new Error(JSON.stringify(paired.refusal));
    if (!paired.value) return;
  }
}
