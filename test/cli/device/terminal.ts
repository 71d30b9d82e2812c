import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import { runCommand } from '#cli/command-line.ts';
import { deviceCommand } from '#cli/device/device.ts';
import { laptop } from '../../cosigner/policy/device-scene.ts';

/** A request that a command sent with POST. */
export interface Posted {
  readonly path: string;
  readonly body: unknown;
}

/**
 * Sets up the terminal of alice, who has a key file and a service that the test sets, for each test
 * of the file.
 */
export function useTerminal() {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-reject-'));
  const key = join(folder, 'alice.pem');
  writeFileSync(key, laptop.secretPem());
  afterAll(() => rmSync(folder, { recursive: true }));
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    vi.spyOn(console, 'error').mockImplementation((line: unknown) => void lines.push(String(line)));
    vi.spyOn(console, 'log').mockImplementation(() => {});
    vi.stubEnv('CONCLAVE_URL', 'https://service.example');
    vi.stubEnv('CONCLAVE_TOKEN', 'token');
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    process.exitCode = 0;
  });
  return {
    /** What the command wrote to standard error. */
    lines,
    /** Runs a device command against a service that gives one answer. Returns what it posted. */
    posted: async (service: object, words: readonly string[]): Promise<readonly Posted[]> => {
      const sent: Posted[] = [];
      vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
        const address = input instanceof Request ? input.url : String(input);
        const { method, body } = init ?? {};
        if (method === 'POST') {
          sent.push({ path: new URL(address).pathname, body: typeof body === 'string' ? JSON.parse(body) : null });
        }
        return Promise.resolve(Response.json(service));
      });
      await runCommand(deviceCommand, [...words, '--key', key, '--yes', '--bundled-node']);
      return sent;
    },
  };
}
