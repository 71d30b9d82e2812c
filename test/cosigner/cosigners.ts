import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from 'undici';
import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Action, MessageIntent, OnChainIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { generateKey } from './key/generate-key.ts';
import type { ThresholdSignRequest } from './threshold-sign.ts';
import type { Settings } from '#local/stack/configuration.ts';
import { configure, newCosignerSecrets } from '#local/stack/configuration.ts';
import type { Runtime } from '#local/stack/runtime.ts';
import { startRuntime } from '#local/stack/runtime.ts';
import { newTransaction } from '#objects/vault/writes/new-transaction.ts';
import { alice, amount, bob, policy } from '../domain/cast.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { party } from '../mpc/dealt-key.ts';
import { founded } from './policy/device-scene.ts';
import { copyPairedCosigners } from '../setup/paired-cosigners.ts';

/**
 * A message between the coordinator and a co-signer. A coordinator can read, change, drop and
 * repeat it.
 */
export interface Passage {
  readonly cosigner: number;
  readonly path: string;
  body: unknown;
}

/**
 * Every request has a connection of its own, because a request on a kept connection can fail:
 * workerd closes an idle connection, and on a busy machine the client notices too late.
 */
const dispatcher = new Agent({ pipelining: 0 });
const ONE_CONNECTION_EACH = {
  fetch: async (request: RequestInfo | URL, init?: RequestInit) => {
    if (typeof request !== 'string') throw new Error('the client of a co-signer sends text');
    return (await undiciFetch(request, { ...(init as UndiciInit), dispatcher })) as unknown as Response;
  },
};

/** Reads a request in transit and may change its body. */
export type Relay = (passage: Passage) => void | Promise<void>;

/**
 * Returns clients of this number of co-signers; a test may read and change each of their requests.
 */
export function watchedClients(count: number, clientOf: (index: PartyIndex) => CosignerClient) {
  let relay: Relay = () => {};
  const client = (number: number): CosignerClient => {
    const inner = clientOf(party(number));
    return {
      index: inner.index,
      call: async (path, content) => {
        const passage: Passage = { cosigner: number, path, body: structuredClone(content) };
        await relay(passage);
        return inner.call(path, passage.body);
      },
    };
  };
  const [first, second, third, ...others] = Array.from({ length: count }, (_, i) => client(i + 1));
  if (first === undefined || second === undefined || third === undefined) throw new Error('there are three at least');
  return {
    all: [first, second, third, ...others] as const,
    some: (...indices: number[]) => indices.map(client),
    /** Passes every later request to this relay. */
    watch: (next: Relay) => (relay = next),
  };
}

interface CosignerOptions extends Pick<Settings, 'recoveryKeys'> {
  /** False for co-signers that have never paired; the first key generation pairs them. */
  readonly arePaired?: boolean;
}

export type Cosigners = Awaited<ReturnType<typeof startCosigners>>;

/**
 * Starts co-signers in workerd, by default three, each with its own storage and secrets. This
 * process is their coordinator: it sends signed requests over HTTP, as a coordinator in another
 * account does.
 */
export async function startCosigners(count = 3, more: CosignerOptions = {}) {
  const { arePaired = true, ...differences } = more;
  const folder = await mkdtemp(join(tmpdir(), 'conclave-nodes-'));
  if (arePaired) await copyPairedCosigners(folder, count);
  const settings = { rpcUrls: {}, cosigners: count, isCoordinatorPinned: true, ...differences };
  const { files, coordinatorSecret } = configure(folder, settings);
  let runtime: Runtime = await startRuntime(files.slice(1), { folder });
  const seen: string[] = [];
  const objects = join(folder, 'state', 'v3', 'do');
  const storedBy = async (index: number) =>
    (await readdir(objects)).filter((name) => name.startsWith(`conclave-cosigner-${index}-`));
  const originOf = (index: number) => `http://127.0.0.1:${runtime.ports[index - 1]}`;

  const clients = watchedClients(count, (index) => ({
    index,
    call: async (path, body) => {
      const door = { origin: originOf(index), coordinatorSecret, fetcher: ONE_CONNECTION_EACH };
      const answer = await cosignerClient(index, door).call(path, body);
      seen.push(asText(body), asText(answer));
      return answer;
    },
  }));

  return {
    folder,
    originOf,
    coordinatorSecret,
    ...clients,
    /** Every message that the coordinator has sent and received, as text. */
    seen,
    /** Restarts all co-signers: their memory is lost, their storage is kept. */
    restart: async ({ sharesSince = '' } = {}) => {
      await runtime.stop();
      configure(folder, { ...settings, sharesSince });
      runtime = await startRuntime(files.slice(1), { folder });
    },
    /**
     * Copies the storage of a co-signer. Returns a function that puts the copy back, as a restore
     * of an old backup does.
     */
    keep: async (index: number) => {
      const copy = await mkdtemp(join(folder, 'kept-'));
      await runtime.stop();
      for (const name of await storedBy(index)) await cp(join(objects, name), join(copy, name), { recursive: true });
      runtime = await startRuntime(files.slice(1), { folder });
      return async () => {
        await runtime.stop();
        for (const name of await storedBy(index)) await rm(join(objects, name), { recursive: true });
        await cp(copy, objects, { recursive: true });
        runtime = await startRuntime(files.slice(1), { folder });
      };
    },
    /**
     * Gives a co-signer another identity. The co-signer keeps its storage and its key-encryption
     * secret, and the other co-signers pin its new public keys.
     */
    rotateIdentity: async (index: number) => {
      await runtime.stop();
      const stored = join(folder, 'secrets.json');
      const secrets = JSON.parse(await readFile(stored, 'utf8')) as { cosigners: { identity: string }[] };
      present(secrets.cosigners[index - 1]).identity = newCosignerSecrets().identity;
      await writeFile(stored, JSON.stringify(secrets));
      configure(folder, settings);
      runtime = await startRuntime(files.slice(1), { folder });
    },
    /**
     * Replaces the machine of a co-signer, its storage and its secrets by new ones, and pins the
     * new keys in the settings of the other co-signers.
     */
    replace: async (index: number) => {
      await runtime.stop();
      const stored = join(folder, 'secrets.json');
      const secrets = JSON.parse(await readFile(stored, 'utf8')) as { cosigners: unknown[] };
      secrets.cosigners[index - 1] = newCosignerSecrets();
      await writeFile(stored, JSON.stringify(secrets));
      const mine = await storedBy(index);
      if (mine.length === 0) throw new Error('the node has kept nothing');
      for (const name of mine) await rm(join(objects, name), { recursive: true });
      configure(folder, settings);
      runtime = await startRuntime(files.slice(1), { folder });
    },
    stop: async () => {
      await runtime.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function asText(message: unknown): string {
  return JSON.stringify(message, (_name, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  );
}

export const anvilRules = rulesFor(present(findChain(chainsFrom({}), 'anvil')));

/**
 * Returns a policy as version 1 of another vault: a co-signer keeps one chain of policies for each
 * vault.
 */
export function inVault(id: number, first: Policy): Policy {
  return { ...first, vaultId: present(parseVaultId(id)) };
}

/**
 * Returns a new key of all co-signers. By default two of alice, bob and carol approve under its
 * policy.
 */
export async function newKey(cosigners: readonly CosignerClient[], { governedBy = policy } = {}): Promise<VaultKey> {
  const generated = await generateKey(cosigners, {
    scheme: 'ecdsa-secp256k1',
    policies: [founded(governedBy)],
  });
  if (!generated.ok) throw new Error(generated.refusal.reason);
  const { scheme, publicKey } = generated.value;
  const address = present(addressOn(anvilRules.chain.caip2, scheme, hexToBytes(publicKey)));
  return { ...generated.value, addresses: { anvil: address } };
}

export interface TransferOptions {
  readonly key: VaultKey;
  readonly to?: string;
  readonly nonce?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly approvedBy?: readonly Actor[];
  readonly createdAtMs?: number;
  readonly governedBy?: Policy;
}

const RECIPIENT = '0x2222222222222222222222222222222222222222';

export interface ApprovedTransfer extends ThresholdSignRequest {
  readonly intent: TransferIntent;
  readonly attempt: Attempt;
  readonly transaction: Transaction;
}

type OnChainAction = Exclude<Action, { readonly kind: 'message' }>;

/**
 * Returns a transfer of 1000 wei that alice and bob have approved, as the coordinator sends it to
 * the co-signers.
 */
export function approvedTransfer(options: TransferOptions): ApprovedTransfer {
  const to = options.to ?? RECIPIENT;
  const action = { kind: 'transfer', to, tokenAddress: null, amount: amount('1000') } as const;
  const transaction = entered(options.key, action, options);
  const { intent } = transaction;
  if (intent.kind !== 'transfer') throw new Error('the story is about a transfer');
  return {
    ...requestFor(options.key, transaction, options.approvedBy),
    intent,
    attempt: attemptOf(intent, options),
    transaction,
  };
}

/**
 * Returns an on-chain transaction of any kind that alice and bob have approved, as the coordinator
 * sends it.
 */
export function approved(key: VaultKey, action: OnChainAction) {
  const transaction = entered(key, action);
  const { intent } = transaction;
  if (intent.kind === 'message') throw new Error('the story is about the chain');
  return { ...requestFor(key, transaction), intent, attempt: attemptOf(intent, { gasLimit: '90000' }) };
}

/** Returns a message that alice and bob have approved, as the coordinator sends it. */
export function approvedMessage(key: VaultKey, text: Pick<MessageIntent, 'format' | 'message'>) {
  const transaction = entered(key, { kind: 'message', ...text });
  const { intent } = transaction;
  if (intent.kind !== 'message') throw new Error('the story is about a message');
  return {
    ...requestFor(key, transaction),
    intent,
    attempt: { number: 1, purpose: 'intent' as const, ...anvilRules.composeMessage(intent) },
  };
}

/**
 * Returns a payment of a chain's native asset that alice and bob have approved; the test provides
 * the bytes to sign.
 */
export function approvedPayment(
  key: VaultKey,
  chain: Chain,
  { to, units }: { readonly to: string; readonly units: bigint },
) {
  const action = { kind: 'transfer', to, tokenAddress: null, amount: amount(units.toString()) } as const;
  const transaction = entered(key, action, { chain });
  const { intent } = transaction;
  if (intent.kind !== 'transfer') throw new Error('the story is about a transfer');
  return { ...requestFor(key, transaction), intent };
}

export function requestFor(key: VaultKey, { digest }: Transaction, approvedBy: readonly Actor[] = [alice, bob]) {
  return {
    key,
    approvals: approvedBy.map((actor) => approvalBy(actor, digest)),
    policies: [{ policy, mandate: null }],
    evidence: [],
  };
}

export function entered(
  key: VaultKey,
  action: Action,
  {
    createdAtMs = Date.now(),
    chain = anvilRules.chain,
    governedBy = policy,
  }: { readonly createdAtMs?: number; readonly chain?: Chain; readonly governedBy?: Policy } = {},
): Transaction {
  const configuration = {
    name: 'Treasury',
    initialState: 'SUBMITTED',
    decisionPeriodSeconds: 3600,
    mostPending: 100,
    chains: [chain.name],
  } as const;
  const creation = { reference: 'treasury', foundedAtMs: createdAtMs };
  const access = { members: [], invitations: [], disabledAccess: [], accessVersions: {} };
  const holding = { ...access, policy: governedBy, keys: [key], expiredAdoptions: [], adoptedVersions: {} };
  const vault = { id: governedBy.vaultId, ...creation, configuration, ...holding };
  return newTransaction(
    {
      chain: chain.name,
      action,
      note: null,
      externalId: null,
      acceptLookalikeOf: null,
      speed: 'normal',
      idempotency: null,
    },
    {
      vault,
      chain,
      from: key.addresses[chain.name] ?? '',
      lookalikeOf: null,
      actor: alice,
      nowMs: createdAtMs,
    },
  );
}

export function approvalBy(actor: Actor, digest: string): Approval {
  return { actor, digest, device: null, atMs: Date.now() };
}

let lastNonce = 0n;

export function attemptOf(
  intent: OnChainIntent,
  options: Partial<TransferOptions> & { readonly gasLimit?: string } = {},
  number = 1,
): Attempt {
  const maxFeePerGas = options.maxFeePerGas ?? 2_000_000_000n;
  const quote = {
    gasLimit: options.gasLimit ?? '21000',
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: (maxFeePerGas / 2n).toString(),
    maxFee: amount((21_000n * maxFeePerGas).toString()),
  };
  lastNonce += 1n;
  return unsignedAttempt(
    { purpose: 'intent', ...anvilRules.compose(intent, quote, options.nonce ?? lastNonce) },
    number,
    Date.now(),
  );
}

export function present<T>(value: T | null | undefined): T {
  if (value == null) throw new Error('the story needs a value here');
  return value;
}
