import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/address-on.ts';
import type { PolicyLink } from '#devices/policy-chain.ts';
import { pinsUnder } from '#devices/policy-chain.ts';
import type { StatementEntry, StatementVerdict } from '#devices/statement.ts';
import { statementRefusal, verifyStatements } from '#devices/statement.ts';
import type { KeyScheme } from '#domain/chain.ts';
import { walletKey } from '#mpc/derivation.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import type { Client } from './client.ts';
import type { PinnedVault } from './pin-file.ts';
import { fetchPolicyChain } from './policy-chain.ts';

/** What the service answers about the co-signers. */
interface DeliveredStatements {
  readonly keys: readonly { readonly keyId: string; readonly scheme: KeyScheme; readonly publicKey: string }[];
  readonly statements: readonly StatementEntry[] | null;
}

/** What a device asks about. */
export interface Question {
  readonly vaultId: number;
  readonly nonce: string;
  readonly delivered: DeliveredStatements;
  /** Of the intent; the version in force when absent. */
  readonly policyVersion?: number;
  /** The wallet of the intent, which has one key; all keys of the vault when absent. */
  readonly wallet?: { readonly chain: string; readonly address: string };
}

/** Policies that at least t co-signers vouch for, the newest last, and what the device remembers from now on. */
export interface Proven {
  readonly links: readonly PolicyLink[];
  readonly pinned: PinnedVault;
}

/** A nonce that nobody can foresee: a statement that was made before it answers nothing. */
export function newNonce(): string {
  return bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
}

/**
 * The policies of a vault as the co-signers have them in force. Prints what each co-signer states.
 *
 * The service delivers everything. What it delivers is believed where it follows from the pinned
 * keys: at least t co-signers state the hash of the newest policy, that hash fixes all policies
 * before it, and no co-signer states another one. Throws otherwise, and nothing is signed.
 */
export async function provePolicies(client: Client, pinned: PinnedVault, question: Question): Promise<Proven> {
  const { vaultId, policyVersion = pinned.policy.version } = question;
  const links = await fetchPolicyChain(client, vaultId, Math.min(pinned.policy.version, policyVersion));
  const head = links.at(-1);
  const pins = await pinsUnder({ pins: pinned.cosigners, policy: pinned.policy }, links);
  if (head === undefined || !pins.ok) throw new Unproven(PIN_FAULTS[pins.ok ? 'older-policy' : pins.refusal]);
  const policy = { version: head.policy.version, hash: head.hash };
  const answered = keysOf(question);
  // A key that the service leaves out could be one that still has an older policy.
  const keyIds = question.wallet === undefined ? [...new Set([...pinned.keyIds, ...answered])] : answered;
  if (keyIds.length === 0) throw new Unproven('the vault has no key yet, so no co-signer can state anything');
  for (const keyId of keyIds) {
    const asked = { vaultId, keyId, nonce: question.nonce, policy };
    const entries = question.delivered.statements ?? [];
    const verdicts = verifyStatements({ pins: pins.value, asked, nowMs: Date.now(), entries });
    print(keyId, verdicts, policy.version);
    const refusal = statementRefusal(verdicts, pinned.threshold);
    if (refusal === 'cosigner-disagrees') throw new Unproven('a co-signer has another policy in force');
    if (refusal === 'too-few-agree') {
      throw new Unproven(`fewer than ${pinned.threshold} co-signers state that they have version ${policy.version}`);
    }
  }
  const known = [...new Set([...pinned.keyIds, ...keyIds])];
  return { links, pinned: { ...pinned, cosigners: [...pins.value], policy, keyIds: known } };
}

/** The statements do not prove what the service shows. */
class Unproven extends Error {
  constructor(why: string) {
    super(`not signed: ${why}`);
  }
}

const PIN_FAULTS = {
  'older-policy': 'the service shows an older policy than this device has verified',
  'other-history': 'the service shows other policies than this device has verified',
  'unproven-pins':
    'the policy names other co-signers, and no quorum has signed that with its devices: ' +
    'pin them again with their fingerprint',
} as const;

/**
 * The ids of the keys that the service names, each checked against its public key. A wallet has the
 * one key that its address follows from.
 */
function keysOf({ delivered, wallet }: Question): readonly string[] {
  const { keys } = delivered;
  for (const { keyId, scheme, publicKey } of keys) {
    if (keyIdOf(scheme, hexToBytes(publicKey)) !== keyId) throw new Unproven('a key has the name of another one');
    if (wallet === undefined) continue;
    const key = walletKey({ scheme, publicKey: hexToBytes(publicKey) }, wallet.chain);
    const isOfWallet = addressOn(wallet.chain, scheme, key) === wallet.address;
    if (!isOfWallet) throw new Unproven('the key that the service names is not the key of the wallet');
  }
  return keys.map(({ keyId }) => keyId);
}

/** Beside the answer, which is on the other stream. */
function print(keyId: string, verdicts: readonly StatementVerdict[], version: number): void {
  console.error(`key ${keyId}`);
  for (const one of verdicts) console.error(`  co-signer ${one.cosigner}: ${wordsFor(one, version)}`);
}

function wordsFor(one: StatementVerdict, version: number): string {
  switch (one.verdict) {
    case 'agrees':
      return `agrees, version ${version} is in force`;
    case 'disagrees':
      return `DISAGREES: it has version ${one.policyVersion} in force, hash ${one.policyHash}`;
    case 'unknown':
      return `unknown (${one.reason})`;
  }
}
