import { join } from 'node:path';
import type { Settings } from './configuration.ts';
import { configure } from './configuration.ts';
import { startRuntime } from './runtime.ts';

/** Co-signers in separate processes, as if in other accounts. */
export interface RemoteCosigners {
  /** The settings of their coordinator (`startStack`), in the same folder. */
  readonly settings: Pick<Settings, 'cosigners' | 'cosignerUrls' | 'isCoordinatorPinned'>;
  /** Ends one of them permanently, as if its machine were down. */
  readonly stopOne: (number: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/**
 * Starts this many co-signers, each with its own storage. They accept only requests that the
 * coordinator of this folder signed.
 */
export async function startRemoteCosigners(folder: string, count: number): Promise<RemoteCosigners> {
  const { files } = configure(folder, { rpcUrls: {}, cosigners: count, isCoordinatorPinned: true });
  const apart = join(folder, 'apart');
  const running = new Map<number, Awaited<ReturnType<typeof startRuntime>>>();
  const cosignerUrls: Record<string, string> = {};
  for (const [i, file] of files.slice(1).entries()) {
    const runtime = await startRuntime([file], { folder: join(apart, String(i + 1)) });
    running.set(i + 1, runtime);
    cosignerUrls[String(i + 1)] = `http://127.0.0.1:${runtime.ports[0]}`;
  }
  const stopOne = async (number: number) => {
    const runtime = running.get(number);
    running.delete(number);
    await runtime?.stop();
  };
  return {
    settings: { cosigners: count, cosignerUrls, isCoordinatorPinned: true },
    stopOne,
    stop: async () => {
      for (const number of running.keys()) await stopOne(number);
    },
  };
}
