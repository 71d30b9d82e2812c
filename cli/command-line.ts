import { Client } from './api-client.ts';

/** What was typed is no command: its usage is shown. */
export class UsageError extends Error {}

/** To its end. What went wrong is said in a line beside the answer, which is on the other stream, and the process ends with 1. */
export async function runCommand(main: () => Promise<void>, usage?: () => string): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    if (usage !== undefined && isMisuse(error)) console.error(usage());
    process.exitCode = 1;
  }
}

/** `parseArgs` says what it does not know by a TypeError with a code. */
function isMisuse(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof TypeError && 'code' in error);
}

/** Of the service at CONCLAVE_URL, with the secret of that name. */
export function clientOf(secretName: 'CONCLAVE_TOKEN' | 'CONCLAVE_SERVICE_KEY'): Client {
  const { CONCLAVE_URL: url, [secretName]: secret } = process.env;
  if (url === undefined || secret === undefined) throw new UsageError(`CONCLAVE_URL or ${secretName} is not set`);
  return new Client(url.replace(/\/$/, ''), secret);
}
