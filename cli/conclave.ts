import type { Command } from './command-line.ts';
import { commandNamed, EXIT_CODES, missingCommand, runCommand } from './command-line.ts';

/**
 * `npm run conclave -- COMMAND ...`: the tools of operators and signers. Exit code 0: success. 1:
 * failure. 2: invalid arguments. The result is on standard output, errors are on standard error.
 */

interface Entry {
  readonly summary: string;
  /** Loads only this command: `verify-history` starts without the code of the local stack. */
  readonly load: () => Promise<Command>;
}

/** The commands by name. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  admin: {
    summary: 'Create and change users, credentials, vaults, members and policies (operators)',
    load: async () => (await import('./admin.ts')).adminCommand,
  },
  device: {
    summary: 'Approve with a device key from a terminal or a script (signers)',
    load: async () => (await import('./device/device.ts')).deviceCommand,
  },
  'cosigner-identity': {
    summary: 'Print the public keys of a co-signer from its identity secret',
    load: async () => (await import('./cosigner-identity.ts')).cosignerIdentityCommand,
  },
  doctor: {
    summary: 'Find wrong settings before a deployment, and faults of a running service (operators)',
    load: async () => (await import('./doctor/doctor.ts')).doctorCommand,
  },
  'push-keys': {
    summary: 'Create the keys for Web Push (VAPID)',
    load: async () => (await import('./push-keys.ts')).pushKeysCommand,
  },
  recover: {
    summary: 'Create offline recovery keys; rebuild wallet keys from recovery packages',
    load: async () => (await import('./recovery/recover.ts')).recoverCommand,
  },
  'restore-drill': {
    summary: 'Practise a restore of D1 on a local stack',
    load: async () => (await import('./restore-drill.ts')).restoreDrillCommand,
  },
  'verify-exports': {
    summary: 'Compare the exports that co-signers report with the history of a vault',
    load: async () => (await import('./verify-exports.ts')).verifyExportsCommand,
  },
  'verify-history': {
    summary: 'Verify the hash chain of the history of a vault, offline',
    load: async () => (await import('./verify-history.ts')).verifyHistoryCommand,
  },
  why: {
    summary: 'State what a transaction waits for (operators)',
    load: async () => (await import('./why/why.ts')).whyCommand,
  },
};

function help(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  return [
    'Usage: npm run conclave -- COMMAND [ARGUMENTS]',
    '',
    ...Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Run `device` and `recover` with a Node of nodejs.org: node cli/conclave.ts COMMAND [ARGUMENTS]',
    'Run npm run conclave -- COMMAND --help to show the arguments of a command.',
    'Exit codes: 0 success, 1 failure, 2 invalid arguments.',
  ].join('\n');
}

/** Runs the command that the arguments name. Sets the exit code of the process when it is not 0. */
export async function conclave([name, ...args]: readonly string[]): Promise<void> {
  const entry = commandNamed(COMMANDS, name ?? '');
  if (name === '--help' || name === 'help') console.log(help());
  else if (entry === undefined) {
    console.error(missingCommand(name ?? ''));
    console.error(help());
    process.exitCode = EXIT_CODES.usage;
  } else {
    await runCommand(await entry.load(), args);
  }
}

if (import.meta.main) await conclave(process.argv.slice(2));
