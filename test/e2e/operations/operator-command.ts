import { vi } from 'vitest';
import type { Stack } from '#local/stack/stack.ts';
import { conclave } from '../../../cli/conclave.ts';

/** Runs a command of an operator against a stack. Returns what it printed. */
export async function operatorCommand({ url, serviceKey }: Stack, args: readonly string[]): Promise<string> {
  vi.stubEnv('CONCLAVE_URL', url);
  vi.stubEnv('CONCLAVE_SERVICE_KEY', serviceKey);
  const output = vi.spyOn(console, 'log').mockImplementation(() => {});
  try {
    await conclave(args);
    return output.mock.calls.map(([text]) => String(text)).join('\n');
  } finally {
    output.mockRestore();
    vi.unstubAllEnvs();
  }
}
