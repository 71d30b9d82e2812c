import { isSecureAddress } from '#domain/secure-address.ts';
import { visibleText } from '#domain/visible-text.ts';
import type { Authorize } from './api-client.ts';
import { Client } from './api-client.ts';
import { argumentsForOwnNode } from './own-node.ts';

/** One command of `conclave`. */
export interface Command {
  /** The forms of the command, one per line, and the environment variables that it reads. */
  readonly usage: string;
  /**
   * The start of the command line for an own Node. Present where the command handles secrets that
   * the bundled Node must not read: see `argumentsForOwnNode`.
   */
  readonly ownNode?: string;
  /**
   * Runs the command. Throws `UsageError` for arguments that it cannot parse, and any other error
   * for a failure.
   */
  readonly run: (args: readonly string[]) => Promise<void>;
}

/** The exit codes of every command: success, failure, invalid arguments. */
export const EXIT_CODES = { success: 0, failure: 1, usage: 2 } as const;

/** The arguments cannot be parsed. The usage is shown. */
export class UsageError extends Error {}

/**
 * Runs a command to its end, or prints its usage for `--help`. Errors go to standard error, so that
 * standard output holds only the result.
 */
export async function runCommand({ usage, ownNode, run }: Command, args: readonly string[]): Promise<void> {
  if (args.includes('--help')) {
    console.log(usage);
    return;
  }
  try {
    await run(ownNode === undefined ? args : argumentsForOwnNode(args, ownNode));
  } catch (error) {
    // The message may contain a text of the service.
    console.error(visibleText(error instanceof Error ? error.message : String(error), { linesStay: true }));
    process.exitCode = isUsageError(error) ? EXIT_CODES.usage : EXIT_CODES.failure;
    if (isUsageError(error)) console.error(usage);
  }
}

/** `parseArgs` reports an unknown option by a TypeError with a code. */
function isUsageError(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof TypeError && 'code' in error);
}

/**
 * Returns the entry of a name, or undefined for a name that the table does not have, such as a
 * property that every object inherits.
 */
export function commandNamed<T>(commands: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

/**
 * Returns the error text for a command that does not exist; an empty name means that the command is
 * missing.
 */
export function missingCommand(name: string): string {
  return name === '' ? 'The command is missing.' : `Unknown command '${name}'.`;
}

/**
 * Returns JSON of a value, with every character escaped that could change what a terminal shows.
 * Its value is the same for a program that parses it.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/[^\n]/gu, (letter) => {
    if (visibleText(letter) === letter) return letter;
    return Array.from(letter.split(''), (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  });
}

/**
 * Returns the lines of usage of a command that has commands of its own.
 *
 * @param start such as `npm run conclave -- admin`
 */
export function usageOf(start: string, commands: Readonly<Record<string, { readonly usage: string }>>): string {
  const lines = Object.entries(commands).map(([name, { usage }]) => `  ${start} ${name} ${usage}`);
  return lines.map((line) => line.trimEnd()).join('\n');
}

/**
 * Returns a client of the service at CONCLAVE_URL, with the secret in the environment variable
 * `secretName`.
 *
 * @param otherwise the header of each request when the variable is not set
 */
export function clientOf(secretName: 'CONCLAVE_TOKEN' | 'CONCLAVE_SERVICE_KEY', otherwise?: Authorize): Client {
  const { CONCLAVE_URL: url, [secretName]: secret = otherwise } = process.env;
  if (url === undefined || secret === undefined) throw new UsageError(`Set CONCLAVE_URL and ${secretName}.`);
  // Each request has the secret.
  if (!URL.canParse(url) || !isSecureAddress(url))
    throw new UsageError('CONCLAVE_URL must be an https URL, or http of this machine.');
  return new Client(url.replace(/\/$/, ''), secret);
}
