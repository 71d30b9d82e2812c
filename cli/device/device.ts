import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { Client } from '../api-client.ts';
import { unwrap } from '../api-client.ts';
import type { Command } from '../command-line.ts';
import { clientOf, commandNamed, jsonText, missingCommand, UsageError, usageOf } from '../command-line.ts';
import { cancellationBytes } from '#domain/access/credential-reset.ts';
import { OWN_NODE_USAGE } from '../own-node.ts';
import { changedDevice } from '#domain/access/device.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import {
  parseCredentialResetId,
  parseTransactionId,
  parseUserId,
  parseVaultIdText,
  vaultOfTransaction,
} from '#domain/id.ts';
import { confirm, hold, print, printFacts } from './consent.ts';
import { consentToFounding } from './founding.ts';
import { promptForPins, identitiesAt, thresholdOf } from './cosigner-pins.ts';
import type { PinnedVault } from './pin-file.ts';
import { PinFile } from './pin-file.ts';
import type { ProvenPolicies } from './statement-check.ts';
import { newNonce, provePolicies } from './statement-check.ts';
import { fingerprintOf, isFingerprintOf } from '#devices/pin-fingerprint.ts';
import { readPolicy } from '#devices/policy-document.ts';
import { readIntent } from '#domain/transaction/read-intent.ts';
import { transactionRejectionBytes } from '#domain/access/transaction-rejection.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
import { beginsDeviceMode } from '#domain/policy/founding.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY } from '#domain/policy/policy.ts';
import { rejectionBytes } from '#domain/policy/policy-rejection.ts';
import { describeChange, policyFacts } from '#review/describe-change.ts';
import { describeIntent } from '#review/describe-intent.ts';
import { describeRejection, describeTransactionRejection } from '#review/describe-rejection.ts';
import { ScriptDevice } from './script-device.ts';

/**
 * `device COMMAND ...`: a device that signs its owner's approvals from a terminal or a script. It
 * does not trust the display of the service: it decodes the canonical bytes itself, prints only
 * what it computed from them, and signs only the digest that it computed. The service is at
 * CONCLAVE_URL, the access token in CONCLAVE_TOKEN. An owner without a token lets the device sign
 * each request.
 *
 * Before it signs, it verifies with the pinned keys of the co-signers which policy they have in
 * force. Without pins it does not sign.
 */

interface Options {
  readonly key?: string | undefined;
  readonly vault?: string | undefined;
  readonly transaction?: string | undefined;
  readonly change?: string | undefined;
  readonly user?: string | undefined;
  readonly reset?: string | undefined;
  readonly reason?: string | undefined;
  readonly cosigner?: readonly string[] | undefined;
  readonly fingerprint?: string | undefined;
  readonly threshold?: string | undefined;
  readonly 'despite-cosigner'?: readonly string[] | undefined;
  readonly yes?: boolean | undefined;
}

const OPTIONS = {
  key: { type: 'string' },
  vault: { type: 'string' },
  transaction: { type: 'string' },
  change: { type: 'string' },
  user: { type: 'string' },
  reset: { type: 'string' },
  reason: { type: 'string' },
  cosigner: { type: 'string', multiple: true },
  fingerprint: { type: 'string' },
  threshold: { type: 'string' },
  'despite-cosigner': { type: 'string', multiple: true },
  yes: { type: 'boolean' },
} as const;

interface DeviceCommand {
  readonly usage: string;
  readonly run: (options: Options) => Promise<unknown>;
}

const DESPITE = '[--despite-cosigner N:AGREEMENT...]';

const COMMANDS: Readonly<Record<string, DeviceCommand>> = {
  new: { usage: '--key FILE', run: create },
  show: { usage: '--key FILE --user USER', run: show },
  enrol: { usage: '--key FILE --vault ID', run: enrol },
  fingerprint: { usage: '--cosigner URL... [--threshold N]', run: fingerprint },
  pin: {
    usage: `--key FILE --vault ID --threshold N [--cosigner URL...] [--fingerprint TEXT] ${DESPITE}`,
    run: pin,
  },
  approve: { usage: `--key FILE --transaction ID ${DESPITE} [--yes]`, run: approve },
  reject: { usage: '--key FILE --transaction ID [--reason TEXT] [--yes]', run: reject },
  'cancel-reset': { usage: '--key FILE --vault ID --user USER --reset ID', run: cancelReset },
  'approve-policy': {
    usage: `--key FILE --vault ID --change ID [--threshold N] [--cosigner URL...] [--fingerprint TEXT] ${DESPITE} [--yes]`,
    run: approvePolicy,
  },
  policy: { usage: `--key FILE --vault ID`, run: showPolicy },
  'reject-policy': { usage: '--key FILE --vault ID --change ID [--reason TEXT] [--yes]', run: rejectPolicy },
};

/** Creates a key file that only its owner can read. An existing file is never overwritten. */
async function create(options: Options) {
  const device = ScriptDevice.create();
  writeFileSync(need(options, 'key'), device.secretPem(), { mode: 0o600, flag: 'wx' });
  return { key: need(options, 'key') };
}

/**
 * Prints what `enrol` would send, for a caller that creates a vault or proposes the device for its
 * owner.
 */
async function show(options: Options) {
  return keyOf(options).enrolment(need(options, 'user'));
}

async function enrol(options: Options) {
  const client = clientOf('CONCLAVE_TOKEN');
  const { id } = await unwrap(client.api.user.me.$get());
  const param = { vaultId: need(options, 'vault') };
  const json = { addDevices: [keyOf(options).enrolment(id)], note: 'Add a device' };
  return unwrap(client.api.vault[':vaultId']['policy-change'].$post({ param, json }));
}

/**
 * For operators of co-signers: prints the keys that co-signers publish, and the input of their
 * signers at `pin`: the fingerprint and how many co-signers sign together.
 */
async function fingerprint({ cosigner = [], threshold }: Options) {
  const cosigners = await identitiesAt(cosigner);
  const together = threshold === undefined ? {} : { threshold: thresholdOf(threshold, cosigners.length) };
  return { fingerprint: fingerprintOf(cosigners), ...together, cosigners };
}

/**
 * Stores the keys of the co-signers, after the signer entered their fingerprint and the co-signers
 * stated the policy in force.
 */
async function pin(options: Options) {
  const [file, vaultId] = [pinsOf(options), vaultOf(options)];
  const client = clientFor(options, vaultId);
  const nonce = newNonce();
  const param = { vaultId: String(vaultId) };
  const { policy, ...delivered } = await unwrap(client.api.vault[':vaultId'].policy.$get({ param, query: { nonce } }));
  const { cosigners, threshold } = await promptForPins(options, policy.cosigners);
  const hash = bytesToHex(sha256(hexToBytes(policy.canonical)));
  const entered: PinnedVault = { cosigners, threshold, policy: { version: policy.version, hash }, keyIds: [] };
  const { head, pinned, exceptions } = await provePolicies(client, entered, { vaultId, nonce, delivered });
  await confirm({ ...options, yes: true }, exceptions);
  printFacts(policyFacts(head.policy));
  file.write(vaultId, pinned);
  return { vault: vaultId, fingerprint: fingerprintOf(cosigners), threshold, policy: pinned.policy };
}

async function approve(options: Options) {
  const [device, file, txId] = [keyOf(options), pinsOf(options), transactionOf(options)];
  const client = clientFor(options, vaultOfTransaction(txId));
  const nonce = newNonce();
  const { canonical, ...delivered } = await client.challenge(txId, nonce);
  const intent = readIntent(hexToBytes(canonical));
  hold(intent.transactionId === txId, 'The bytes belong to another transaction.');
  const { vaultId, policyVersion, chain, from } = intent;
  const query = { vaultId, nonce, delivered, policyVersion, wallet: { chain, address: from } };
  const { head, links, pinned, exceptions } = await provePolicies(client, pinnedVault(file, vaultId), query);
  const named = links.find(({ policy }) => policy.version === policyVersion);
  hold(named?.hash === intent.policyHash, 'The intent names a policy that is not in the history of the vault.');
  print(describeIntent(intent, head.policy));
  await confirm(options, exceptions);
  file.write(vaultId, pinned);
  const json = device.sign(bytesToHex(sha256(hexToBytes(canonical))));
  return unwrap(client.api.transaction[':txId'].approve.$post({ param: { txId }, json }));
}

async function approvePolicy(options: Options) {
  const [vaultId, nonce] = [vaultOf(options), newNonce()];
  const [client, device, file] = [clientFor(options, vaultId), keyOf(options), pinsOf(options)];
  const param = { vaultId: String(vaultId), changeId: need(options, 'change') };
  const api = client.api.vault[':vaultId']['policy-change'][':changeId'];
  const { canonical, policy, decidedBy, ...delivered } = await unwrap(api.$get({ param, query: { nonce } }));
  const { mandate, next } = readChange({ canonical, policy }, { vaultId, changeId: param.changeId });
  const replaced = next.version === 1 ? null : readPolicy(hexToBytes(decidedBy.canonical));
  if (beginsDeviceMode(next, replaced)) {
    const isFirst = next.version === 1 && next.previousHash === NO_PREVIOUS_POLICY;
    hold(
      isFirst || next.previousHash === hashOfHex(decidedBy.canonical),
      'The proposed policy does not follow the policy that the service sent.',
    );
    await consentToFounding(options, { device, file }, { mandate, next, replaced });
    const json = device.sign(hashOfHex(canonical));
    return unwrap(api.approve.$post({ param, json }));
  }
  const proposed = { version: next.version, hash: mandate.policyHash };
  const query = { vaultId, nonce, delivered, proposed };
  const proven = await provePolicies(client, pinnedVault(file, vaultId), query);
  hold(proven.isRenewal || isNext(next, proven), 'The proposed policy does not follow the policy in force.');
  const keys = next.cosigners ?? proven.pinned.cosigners;
  const isConfirmed = isFingerprintOf(options.fingerprint ?? '', keys);
  // From then on this device accepts statements under these keys, so their owner compares the
  // fingerprint and not the hex. A policy that the device has already verified changes no pins.
  const isVerified = proven.isRenewal && proposed.version <= proven.pinned.policy.version;
  hold(
    isVerified || fingerprintOf(keys) === fingerprintOf(proven.pinned.cosigners) || isConfirmed,
    'The policy change pins other keys of the co-signers. ' +
      'Give the fingerprint from the operators of the co-signers with --fingerprint.',
  );
  const before = proven.links.find(({ policy: { version } }) => version === next.version - 1);
  hold(before !== undefined, 'The service did not send the policy before the proposed one.');
  hold(
    changedDevice(before.policy.devices, next.devices) === null,
    'The policy change changes a device in force. It may only add or remove devices.',
  );
  const description = describeChange(mandate, before.policy, next);
  const renewal = proven.isRenewal ? [renewalText(next.version, isVerified)] : [];
  print({ ...description, warnings: [...description.warnings, ...renewal] });
  await confirm(options, proven.exceptions);
  file.write(vaultId, proven.pinned);
  const json = device.sign(hashOfHex(canonical));
  return unwrap(api.approve.$post({ param, json }));
}

/** Prints the whole of the policy that co-signers with the pinned keys have in force. */
async function showPolicy(options: Options) {
  const [file, vaultId] = [pinsOf(options), vaultOf(options)];
  const client = clientFor(options, vaultId);
  const nonce = newNonce();
  const param = { vaultId: String(vaultId) };
  const delivered = await unwrap(client.api.vault[':vaultId'].policy.$get({ param, query: { nonce } }));
  const { head, exceptions } = await provePolicies(client, pinnedVault(file, vaultId), { vaultId, nonce, delivered });
  const { policy, hash } = head;
  printFacts(policyFacts(policy));
  const dissenting = exceptions.map(({ cosigner, agreement }) => ({ cosigner, agreement }));
  return { vault: vaultId, policy: { version: policy.version, hash }, dissenting };
}

/**
 * Rejects a policy change. It needs no pins and no statements: a rejection moves nothing and puts
 * no policy in force. It signs bytes that it builds itself, of another type than an approval. The
 * reason is sent beside the signature.
 */
async function rejectPolicy(options: Options) {
  const [device, vaultId] = [keyOf(options), vaultOf(options)];
  const client = clientFor(options, vaultId);
  const param = { vaultId: String(vaultId), changeId: need(options, 'change') };
  const api = client.api.vault[':vaultId']['policy-change'][':changeId'];
  const { canonical, policy, decidedBy } = await unwrap(api.$get({ param, query: {} }));
  const { mandate, next } = readChange({ canonical, policy }, { vaultId, changeId: param.changeId });
  const before = readPolicy(hexToBytes(decidedBy.canonical));
  hold(
    next.previousHash === hashOfHex(decidedBy.canonical),
    'The service sent another policy before the proposed one.',
  );
  const rejection = { vaultId: next.vaultId, changeId: mandate.id, mandateDigest: hashOfHex(canonical) };
  print(describeRejection(rejection, { mandate, before, proposed: next }));
  await confirm(options, []);
  const { reason } = options;
  const signature = device.sign(bytesToHex(sha256(rejectionBytes(rejection))));
  const json = { ...signature, ...(reason === undefined ? {} : { reason }) };
  return unwrap(api.reject.$post({ param, json }));
}

/**
 * Rejects a transaction, also one that is approved and not mined. It needs no pins and no
 * statements, and signs bytes that it builds itself, as `rejectPolicy` does.
 */
async function reject(options: Options) {
  const [device, txId] = [keyOf(options), transactionOf(options)];
  const client = clientFor(options, vaultOfTransaction(txId));
  const api = client.api.transaction[':txId'];
  const { canonical, policy } = await unwrap(api.challenge.$get({ param: { txId }, query: {} }));
  const intent = readIntent(hexToBytes(canonical));
  hold(intent.transactionId === txId, 'The bytes belong to another transaction.');
  const { vaultId, transactionId } = intent;
  const rejection = { vaultId, transactionId, intentDigest: hashOfHex(canonical) };
  const inForce = readPolicy(hexToBytes(policy.canonical));
  hold(inForce.vaultId === vaultId, 'The policy belongs to another vault.');
  print(describeTransactionRejection(rejection, intent, inForce));
  await confirm(options, []);
  const { reason } = options;
  const signature = device.sign(bytesToHex(sha256(transactionRejectionBytes(rejection))));
  const json = { ...signature, ...(reason === undefined ? {} : { reason }) };
  return unwrap(api.reject.$post({ param: { txId }, json }));
}

/** Returns a policy change that its bytes describe. Throws when they are not of this change. */
function readChange(
  { canonical, policy }: { readonly canonical: string; readonly policy: { readonly canonical: string } },
  { vaultId, changeId }: { readonly vaultId: number; readonly changeId: string },
) {
  const [mandate, next] = [readMandate(hexToBytes(canonical)), readPolicy(hexToBytes(policy.canonical))];
  hold(mandate.id === changeId, 'The bytes belong to another policy change.');
  const isMatch = mandate.policyHash === hashOfHex(policy.canonical);
  hold(isMatch, 'The policy change does not match the policy that the service sent.');
  hold(next.vaultId === vaultId, 'The policy change belongs to another vault.');
  return { mandate, next };
}

/**
 * Cancels a credential reset of the owner. It needs no token: the owner may have lost all of them.
 */
async function cancelReset(options: Options) {
  const [userId, id] = [parseUserId(need(options, 'user')), parseCredentialResetId(need(options, 'reset'))];
  const vaultId = parseVaultIdText(need(options, 'vault'));
  if (userId === null || id === null || vaultId === null)
    throw new UsageError('Option --user, --reset or --vault is not a valid id.');
  const url = process.env['CONCLAVE_URL'];
  if (url === undefined) throw new UsageError('Set CONCLAVE_URL.');
  const json = keyOf(options).sign(bytesToHex(sha256(cancellationBytes({ id, userId }, vaultId))));
  const response = await fetch(`${url}/vault/${vaultId}/credential-reset/${id}/cancel-by-device`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(json),
  });
  if (!response.ok) throw new Error(`The service returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as unknown;
}

/** Reports whether a policy is the next version after the one that the co-signers have in force. */
function isNext(next: Policy, { pinned: { policy } }: ProvenPolicies): boolean {
  return next.previousHash === policy.hash && next.version === policy.version + 1;
}

function hashOfHex(hex: string): string {
  return bytesToHex(sha256(hexToBytes(hex)));
}

function renewalText(version: number, isVerified: boolean): string {
  return isVerified
    ? `This renews the mandate of version ${version}, which co-signers have in force. It changes no rule.`
    : `The service calls this a renewal of version ${version}. Too few co-signers have it in force. Treat it as a new change.`;
}

function vaultOf(options: Options): VaultId {
  const vaultId = parseVaultIdText(need(options, 'vault'));
  if (vaultId === null) throw new UsageError('Option --vault must be the number of a vault.');
  return vaultId;
}

function transactionOf(options: Options): TransactionId {
  const id = parseTransactionId(need(options, 'transaction'));
  if (id === null) throw new UsageError('Option --transaction must be the id of a transaction.');
  return id;
}

/** Returns a client with the access token. Without one the device signs the requests. */
function clientFor(options: Options, vaultId: VaultId): Client {
  return clientOf('CONCLAVE_TOKEN', (method, target) =>
    keyOf(options).authorization({ vaultId, method, target, atMs: Date.now() }),
  );
}

function pinsOf(options: Options): PinFile {
  return new PinFile(need(options, 'key'));
}

function pinnedVault(file: PinFile, vaultId: number): PinnedVault {
  const pinned = file.read(vaultId);
  hold(pinned !== null, `No co-signers are pinned for vault ${vaultId}. Enter their fingerprint with 'pin'.`);
  return pinned;
}

function need(options: Options, name: 'key' | 'vault' | 'transaction' | 'change' | 'user' | 'reset'): string {
  const value = options[name];
  if (value === undefined) throw new UsageError(`Option --${name} is missing.`);
  return value;
}

function keyOf(options: Options): ScriptDevice {
  return ScriptDevice.read(readFileSync(need(options, 'key'), 'utf8'));
}

const START = 'node cli/conclave.ts device';

export const deviceCommand: Command = {
  usage: `Set CONCLAVE_URL to the address of the service and CONCLAVE_TOKEN to an access token. Without a token, a device of a vault in device mode signs the requests itself.\n${usageOf(START, COMMANDS)}\n${OWN_NODE_USAGE}`,
  ownNode: START,
  run: async (args) => {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const name = positionals.join(' ');
    const command = commandNamed(COMMANDS, name);
    if (command === undefined) throw new UsageError(missingCommand(name));
    console.log(jsonText(await command.run(values)));
  },
};
