import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { good } from './client.ts';
import { clientOf, Misuse, runCommand } from './command-line.ts';
import { cancellationBytes } from '#domain/credential-reset.ts';
import { parseCredentialResetId, parseUserId, parseVaultIdText } from '#domain/id.ts';
import type { CanonicalText } from '#domain/read-canonical.ts';
import { readCanonical } from '#domain/read-canonical.ts';
import { ScriptDevice } from './script-device.ts';

/**
 * `npm run device -- COMMAND ...`: a device that gives its owner's voice from a terminal or a script. What the service shows is not
 * believed: the bytes that were hashed are read and hashed again here, shown field by field, and only the digest that was computed here
 * is signed. The service is at CONCLAVE_URL, the person's token in CONCLAVE_TOKEN.
 */

interface Options {
  readonly key?: string | undefined;
  readonly vault?: string | undefined;
  readonly transaction?: string | undefined;
  readonly change?: string | undefined;
  readonly user?: string | undefined;
  readonly reset?: string | undefined;
  readonly yes?: boolean | undefined;
}

const OPTIONS = {
  key: { type: 'string' },
  vault: { type: 'string' },
  transaction: { type: 'string' },
  change: { type: 'string' },
  user: { type: 'string' },
  reset: { type: 'string' },
  yes: { type: 'boolean' },
} as const;

interface Command {
  readonly usage: string;
  readonly run: (options: Options) => Promise<unknown>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  new: { usage: '--key FILE', run: create },
  show: { usage: '--key FILE --user USER', run: show },
  enrol: { usage: '--key FILE --vault ID', run: enrol },
  approve: { usage: '--key FILE --transaction ID [--yes]', run: approve },
  'cancel-reset': { usage: '--key FILE --vault ID --user USER --reset ID', run: cancelReset },
  'approve-policy': { usage: '--key FILE --vault ID --change ID [--yes]', run: approvePolicy },
};

/** Only its owner reads the file, and one that is there already is never overwritten. */
async function create(options: Options) {
  const device = ScriptDevice.create();
  writeFileSync(need(options, 'key'), device.secretPem(), { mode: 0o600, flag: 'wx' });
  return { key: need(options, 'key') };
}

/** What `enrol` would send, for whoever founds a vault or proposes the device in somebody's place. */
async function show(options: Options) {
  return keyOf(options).enrolment(need(options, 'user'));
}

async function enrol(options: Options) {
  const client = clientOf('CONCLAVE_TOKEN');
  const { id } = await good(client.api.user.me.$get());
  const param = { vaultId: need(options, 'vault') };
  const json = { addDevices: [keyOf(options).enrolment(id)], note: 'A device of mine' };
  return good(client.api.vault[':vaultId']['policy-change'].$post({ param, json }));
}

async function approve(options: Options) {
  const [client, device] = [clientOf('CONCLAVE_TOKEN'), keyOf(options)];
  const txId = need(options, 'transaction');
  const { canonical, warnings } = await client.challenge(txId);
  const read = readCanonical(hexToBytes(canonical));
  hold(read.domain === 'conclave/intent/v1', 'these are not the bytes of an intent');
  hold(valueOf(read, 'transactionId') === txId, 'these are the bytes of another transaction');
  print(read);
  for (const { detail } of warnings) console.error(`! ${detail}`);
  await confirm(options);
  const json = device.voice(bytesToHex(sha256(hexToBytes(canonical))));
  return good(client.api.transaction[':txId'].approve.$post({ param: { txId }, json }));
}

async function approvePolicy(options: Options) {
  const [client, device] = [clientOf('CONCLAVE_TOKEN'), keyOf(options)];
  const param = { vaultId: need(options, 'vault'), changeId: need(options, 'change') };
  const api = client.api.vault[':vaultId']['policy-change'][':changeId'];
  const { canonical, policy } = await good(api.$get({ param }));
  const [mandate, next] = [readCanonical(hexToBytes(canonical)), readCanonical(hexToBytes(policy.canonical))];
  hold(mandate.domain === 'conclave/policy-change/v1', 'these are not the bytes of a change');
  hold(valueOf(mandate, 'id') === param.changeId, 'these are the bytes of another change');
  const hash = bytesToHex(sha256(hexToBytes(policy.canonical)));
  hold(valueOf(mandate, 'policyHash') === hash, 'the change is to another policy than the one that is shown');
  print(next);
  print(mandate);
  await confirm(options);
  const json = device.voice(bytesToHex(sha256(hexToBytes(canonical))));
  return good(api.approve.$post({ param, json }));
}

/** Cancels a credential reset of the owner. It takes no token: the owner may have lost all of them. */
async function cancelReset(options: Options) {
  const [userId, id] = [parseUserId(need(options, 'user')), parseCredentialResetId(need(options, 'reset'))];
  const vaultId = parseVaultIdText(need(options, 'vault'));
  if (userId === null || id === null || vaultId === null) throw new Misuse('--user, --reset or --vault is no id');
  const url = process.env['CONCLAVE_URL'];
  if (url === undefined) throw new Misuse('CONCLAVE_URL is not set');
  const json = keyOf(options).voice(bytesToHex(sha256(cancellationBytes({ id, userId }, vaultId))));
  const response = await fetch(`${url}/vault/${vaultId}/credential-reset/${id}/cancel-by-device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  if (!response.ok) throw new Error(`the service answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as unknown;
}

function hold(holds: boolean, fault: string): void {
  if (!holds) throw new Error(`not signed: ${fault}`);
}

function valueOf({ fields }: CanonicalText, name: string): string | null {
  return fields.find(([field]) => field === name)?.[1] ?? null;
}

/** Beside the answer, which is on the other stream. */
function print({ domain, fields }: CanonicalText): void {
  console.error(domain);
  for (const [name, value] of fields) console.error(`  ${name}: ${value === null ? '-' : JSON.stringify(value)}`);
}

async function confirm({ yes }: Options): Promise<void> {
  if (yes === true) return;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Sign this? Type yes: ');
  terminal.close();
  hold(answer.trim() === 'yes', 'nobody said yes');
}

function need(options: Options, name: Exclude<keyof Options, 'yes'>): string {
  const value = options[name];
  if (value === undefined) throw new Misuse(`--${name} is missing`);
  return value;
}

function keyOf(options: Options): ScriptDevice {
  return ScriptDevice.read(readFileSync(need(options, 'key'), 'utf8'));
}

function usage(): string {
  const lines = Object.entries(COMMANDS).map(([name, command]) => `  npm run device -- ${name} ${command.usage}`);
  return ['CONCLAVE_URL and CONCLAVE_TOKEN name the service and open it.', ...lines].join('\n');
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const command = COMMANDS[positionals.join(' ')];
  if (command === undefined) throw new Misuse(`there is no command '${positionals.join(' ')}'`);
  console.log(JSON.stringify(await command.run(values), null, 2));
}

await runCommand(main, usage);
