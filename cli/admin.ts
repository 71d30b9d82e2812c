import { parseArgs } from 'node:util';
import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';
import { visibleText } from '#domain/visible-text.ts';
import type { Command } from './command-line.ts';
import { clientOf, commandNamed, EXIT_CODES, jsonText, missingCommand, UsageError, usageOf } from './command-line.ts';

/**
 * `admin COMMAND ...`: the operator commands, one for each endpoint of the internal interface. The
 * service key is in the environment and never among the arguments, which other users of the machine
 * can read. Prints the response as JSON. A refusal of the service is a failure.
 */

interface Arguments {
  readonly values: Readonly<Record<string, string | readonly string[] | undefined>>;
}

interface Endpoint {
  readonly usage: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: (args: Arguments) => string;
  readonly body?: (args: Arguments) => unknown;
}

const COMMANDS: Readonly<Record<string, Endpoint>> = {
  'user create': {
    usage: '--name NAME --email EMAIL [--service-account]',
    method: 'POST',
    path: () => '/internal/user',
    body: (args) => ({
      name: one(args, 'name'),
      email: one(args, 'email'),
      ...(args.values['service-account'] === undefined ? {} : { isServiceAccount: true }),
    }),
  },
  'user disable': { usage: '--user USER', method: 'POST', path: (args) => `${userPath(args)}/disable` },
  'user enable': { usage: '--user USER', method: 'POST', path: (args) => `${userPath(args)}/enable` },
  'credential list': { usage: '--user USER', method: 'GET', path: (args) => `${userPath(args)}/credential` },
  'credential end': {
    usage: '--user USER --credential ID',
    method: 'DELETE',
    path: (args) => `${userPath(args)}/credential/${part(args, 'credential')}`,
  },
  'token issue': {
    usage: '--user USER --name NAME [--expires UNIX_SECONDS] [--scope SCOPE]...',
    method: 'POST',
    path: (args) => `${userPath(args)}/access-token`,
    body: (args) => ({
      name: one(args, 'name'),
      ...whole(args, 'expires', 'expiresAt'),
      ...(args.values['scope'] === undefined ? {} : { scopes: many(args, 'scope') }),
    }),
  },
  'credential-reset request': { usage: '--user USER', method: 'POST', path: resetsPath },
  'credential-reset show': { usage: '--user USER', method: 'GET', path: resetsPath },
  'credential-reset token': {
    usage: '--user USER --reset RESET --name NAME [--expires UNIX_SECONDS]',
    method: 'POST',
    path: (args) => `${resetsPath(args)}/${part(args, 'reset')}/access-token`,
    body: (args) => ({ name: one(args, 'name'), ...whole(args, 'expires', 'expiresAt') }),
  },
  'credential-reset session': {
    usage: '--user USER --reset RESET',
    method: 'POST',
    path: (args) => `${resetsPath(args)}/${part(args, 'reset')}/session`,
  },
  'credential-reset identity': {
    usage: '--user USER --reset RESET',
    method: 'POST',
    path: (args) => `${resetsPath(args)}/${part(args, 'reset')}/identity`,
  },
  'session issue': {
    usage: '--user USER',
    method: 'POST',
    path: (args) => `${userPath(args)}/session`,
  },
  'vault create': {
    usage:
      '--name NAME --threshold N --chain CHAIN... --member USER:ROLE[,ROLE]... --approval-mode device|token [--reference TEXT] [--draft] [--signing-threshold N] [--bitcoin-address-type p2tr|p2wpkh] [--device JSON]... [--cosigners JSON|null] [--rules JSON]',
    method: 'POST',
    path: () => '/internal/vault',
    body: (args) => ({
      name: one(args, 'name'),
      members: many(args, 'member').map(memberOf),
      chains: many(args, 'chain'),
      initialState: args.values['draft'] === undefined ? 'SUBMITTED' : 'DRAFT',
      ...whole(args, 'threshold', 'threshold'),
      ...whole(args, 'signing-threshold', 'signingThreshold'),
      ...words(args, 'bitcoin-address-type', 'bitcoinAddressType'),
      approvalMode: approvalMode(args),
      ...devices(args, 'devices'),
      ...cosigners(args),
      ...words(args, 'reference', 'reference'),
      ...(args.values['rules'] === undefined ? {} : { rules: rules(args) }),
    }),
  },
  'vault show': { usage: '--vault ID', method: 'GET', path: (args) => `/internal/vault/${part(args, 'vault')}` },
  'vault project': {
    usage: '--vault ID',
    method: 'POST',
    path: (args) => `/internal/vault/${part(args, 'vault')}/projection`,
  },
  'recovery export': {
    usage: '--vault ID',
    method: 'POST',
    path: (args) => `/internal/vault/${part(args, 'vault')}/recovery`,
  },
  'key show': { usage: '--vault ID --key KEY', method: 'GET', path: keyPath },
  'key refresh': { usage: '--vault ID --key KEY', method: 'POST', path: (args) => `${keyPath(args)}/refresh` },
  'key give-up-refresh': {
    usage: '--vault ID --key KEY',
    method: 'DELETE',
    path: (args) => `${keyPath(args)}/refresh`,
  },
  'wallet add': {
    usage: '--vault ID --chain CHAIN',
    method: 'PUT',
    path: (args) => `/internal/vault/${part(args, 'vault')}/wallet/${encodeURIComponent(many(args, 'chain')[0] ?? '')}`,
  },
  'member set': {
    usage: '--vault ID --user USER --role ROLE...',
    method: 'PUT',
    path: (args) => `/internal/vault/${part(args, 'vault')}/member/${part(args, 'user')}`,
    body: (args) => ({ roles: many(args, 'role') }),
  },
  'member remove': {
    usage: '--vault ID --user USER',
    method: 'DELETE',
    path: (args) => `/internal/vault/${part(args, 'vault')}/member/${part(args, 'user')}`,
  },
  'policy propose': {
    usage:
      '--vault ID [--threshold N] [--signer USER]... [--approval-mode token|device] [--device JSON]... [--remove-device ID]... [--cosigners JSON|null] [--rules JSON] [--note TEXT]',
    method: 'POST',
    path: (args) => `/internal/vault/${part(args, 'vault')}/policy-change`,
    body: (args) => ({
      ...rules(args),
      ...whole(args, 'threshold', 'threshold'),
      ...words(args, 'approval-mode', 'approvalMode'),
      ...devices(args, 'addDevices'),
      ...cosigners(args),
      ...(args.values['remove-device'] === undefined ? {} : { removeDevices: many(args, 'remove-device') }),
      ...(args.values['signer'] === undefined ? {} : { signers: many(args, 'signer') }),
      ...(args.values['note'] === undefined ? {} : { note: one(args, 'note') }),
    }),
  },
  'status show': { usage: '', method: 'GET', path: () => '/internal/status' },
  'alert ack': {
    usage: '--alert ID',
    method: 'POST',
    path: () => '/internal/alert/acknowledge',
    body: (args) => ({ id: one(args, 'alert') }),
  },
  'dead-letter list': { usage: '', method: 'GET', path: () => '/internal/dead-letter' },
};

const MEANING_OF_TOKEN_MODE =
  "Approval mode 'token' trusts the coordinator, and every holder of a service key, to count approvals. " +
  "With 'device' each co-signer verifies the device signatures itself.";

const OPTIONS = {
  name: { type: 'string' },
  email: { type: 'string' },
  user: { type: 'string' },
  reset: { type: 'string' },
  credential: { type: 'string' },
  expires: { type: 'string' },
  scope: { type: 'string', multiple: true },
  'service-account': { type: 'boolean' },
  vault: { type: 'string' },
  key: { type: 'string' },
  threshold: { type: 'string' },
  'signing-threshold': { type: 'string' },
  'bitcoin-address-type': { type: 'string' },
  reference: { type: 'string' },
  draft: { type: 'boolean' },
  chain: { type: 'string', multiple: true },
  member: { type: 'string', multiple: true },
  role: { type: 'string', multiple: true },
  signer: { type: 'string', multiple: true },
  'approval-mode': { type: 'string' },
  device: { type: 'string', multiple: true },
  'remove-device': { type: 'string', multiple: true },
  cosigners: { type: 'string' },
  rules: { type: 'string' },
  note: { type: 'string' },
  alert: { type: 'string' },
} as const;

function one({ values }: Arguments, name: string): string {
  const value = values[name];
  if (typeof value !== 'string') throw new UsageError(`Option --${name} is missing.`);
  return value;
}

function many({ values }: Arguments, name: string): readonly string[] {
  const value = values[name];
  if (value === undefined || typeof value === 'string') throw new UsageError(`Option --${name} is missing.`);
  return value;
}

/** Returns one option as a path segment. */
function part(args: Arguments, name: string): string {
  return encodeURIComponent(one(args, name));
}

/**
 * Returns a field with a whole number, or nothing when the option is absent. The service validates
 * the number.
 */
function whole(args: Arguments, option: string, field: string): Record<string, number> {
  if (args.values[option] === undefined) return {};
  const text = one(args, option);
  if (!/^[0-9]{1,15}$/.test(text)) throw new UsageError(`Option --${option} must be a whole number.`);
  return { [field]: Number.parseInt(text, 10) };
}

function userPath(args: Arguments): string {
  return `/internal/user/${part(args, 'user')}`;
}

function resetsPath(args: Arguments): string {
  return `${userPath(args)}/credential-reset`;
}

function keyPath(args: Arguments): string {
  return `/internal/vault/${part(args, 'vault')}/key/${part(args, 'key')}`;
}

/**
 * Returns a field with a text, or nothing when the option is absent. The service validates the
 * text.
 */
function words(args: Arguments, option: string, field: string): Record<string, string> {
  return args.values[option] === undefined ? {} : { [field]: one(args, option) };
}

/**
 * Returns the approval mode, which has no default. The meaning of `token` goes to standard error,
 * so that scripts read only the response.
 */
function approvalMode(args: Arguments): string {
  if (args.values['approval-mode'] === undefined)
    throw new UsageError(`Option --approval-mode is missing. ${MEANING_OF_TOKEN_MODE}`);
  const mode = one(args, 'approval-mode');
  if (mode === 'token') console.error(MEANING_OF_TOKEN_MODE);
  return mode;
}

/** Parses devices as `device show` prints them. Returns nothing when the option is absent. */
function devices(args: Arguments, field: string): Record<string, readonly unknown[]> {
  return args.values['device'] === undefined ? {} : { [field]: many(args, 'device').map(jsonIn) };
}

/**
 * Parses the identity keys of the co-signers as one JSON list, or null to pin none. Returns nothing
 * when the option is absent.
 */
function cosigners(args: Arguments): Readonly<Record<string, unknown>> {
  if (args.values['cosigners'] === undefined) return {};
  const text = one(args, 'cosigners');
  const value = jsonIn(text);
  if (!Array.isArray(value) && text !== 'null')
    throw new UsageError('Option --cosigners must be a JSON list of { index, signing }, or null.');
  return { cosigners: value };
}

/**
 * Parses the rules of a policy as one JSON object. Returns nothing when the option is absent. The
 * service validates the rules.
 */
function rules(args: Arguments): Readonly<Record<string, unknown>> {
  if (args.values['rules'] === undefined) return {};
  const value = jsonIn(one(args, 'rules'));
  if (!isJsonObject(value)) throw new UsageError('Option --rules must be a JSON object.');
  return value;
}

function memberOf(text: string): { readonly userId: string; readonly roles: readonly string[] } {
  const [userId = '', roles = ''] = text.split(':');
  if (userId === '' || roles === '')
    throw new UsageError(`Option --member must have the form USER:ROLE[,ROLE], not '${text}'.`);
  return { userId, roles: roles.split(',') };
}

/** Returns how an operator solves a refusal of the service key, or null for another answer. */
function adviceFor(body: unknown): string | null {
  if (!isJsonObject(body) || body['code'] !== 'insufficient-scope') return null;
  const scope = String(body['scope']);
  return `The service key does not have the scope '${scope}', which this command requires. Use a key with the scope, or add it in SERVICE_KEY_HASHES.`;
}

export const adminCommand: Command = {
  usage: `Set CONCLAVE_URL to the address of the service and CONCLAVE_SERVICE_KEY to a service key.\n${usageOf('npm run conclave -- admin', COMMANDS)}`,
  run: async (args) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const name = positionals.join(' ');
    const command = commandNamed(COMMANDS, name);
    if (command === undefined) throw new UsageError(missingCommand(name));
    const client = clientOf('CONCLAVE_SERVICE_KEY');
    // An option without a value is present or absent.
    const texts = Object.entries(values).map(
      ([option, value]) => [option, typeof value === 'boolean' ? 'yes' : value] as const,
    );
    const given: Arguments = { values: Object.fromEntries(texts) };
    const body = command.body?.(given);
    const answer = await client.request(command.method, command.path(given), body === undefined ? {} : { body });
    console.log(jsonText(answer.body));
    if (answer.status < 400) return;
    const advice = adviceFor(answer.body);
    if (advice !== null) console.error(visibleText(advice));
    process.exitCode = EXIT_CODES.failure;
  },
};
