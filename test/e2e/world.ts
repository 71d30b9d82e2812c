import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAnvil } from '#local/evm/anvil.ts';
import { localChain } from '#local/evm/chain.ts';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { Client } from '#cli/api-client.ts';
import { UNLIMITED } from '#local/stack/configuration.ts';
import type { Person, ReadyVault, VaultOptions } from '#local/stack/provision.ts';
import { createPerson, createReadyVault } from '#local/stack/provision.ts';
import type { Stack, StackOptions } from '#local/stack/stack.ts';
import { startStack } from '#local/stack/stack.ts';
import { stopped } from '#local/stack/stopped.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { copyPairedCosigners } from '../setup/paired-cosigners.ts';
import { startGate } from './rpc-proxy.ts';

const ETHER = 10n ** 18n;
const DEADLINE_MS = 60_000;
const FINAL = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED']);

export interface Cast {
  readonly alice: Person;
  readonly bob: Person;
  readonly carol: Person;
  /** A user of the service who belongs to no vault. */
  readonly mallory: Person;
}

export interface WorldOptions {
  readonly rateLimits?: NonNullable<StackOptions['rateLimits']>;
  /** The address of the local Solana chain, if the test uses one. */
  readonly solanaUrl?: string;
  /** The address of the local regtest, if the test uses one. */
  readonly bitcoinUrl?: string;
  /** The path of another entry file of the coordinator. */
  readonly entry?: string;
  /** An existing folder, which the world does not delete. */
  readonly folder?: string;
  /** The configuration has a second address of the same anvil node, behind its own gate. */
  readonly hasSecondNode?: boolean;
  readonly cosigners?: number;
  readonly cosignerUrls?: Readonly<Record<string, string>>;
  readonly recoveryKeys?: readonly string[];
  readonly login?: object;
  /** Further endpoints of monitors, with the secret of the monitor of the local chain. */
  readonly furtherEndpoints?: readonly string[];
  /** The origin of an approval page that is served already. */
  readonly approvalOrigin?: string;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * Starts a real system: a chain, four Workers, and people who use them over HTTP. The chain keeps
 * running when the Workers stop.
 */
export async function startWorld(requested: WorldOptions = {}) {
  const {
    rateLimits = UNLIMITED,
    solanaUrl,
    bitcoinUrl,
    entry,
    cosigners,
    cosignerUrls,
    recoveryKeys,
    login,
  } = requested;
  const { approvalOrigin, furtherEndpoints } = requested;
  // If a later part fails to start, the parts that have started are stopped.
  await using started = new AsyncDisposableStack();
  const folder = requested.folder ?? (await mkdtemp(join(tmpdir(), 'conclave-e2e-')));
  if (requested.folder === undefined) started.defer(() => rm(folder, { recursive: true, force: true }));
  if (requested.folder === undefined && cosignerUrls === undefined) await copyPairedCosigners(folder, cosigners ?? 3);
  const anvil = started.adopt(await startAnvil(), stopped);
  const gate = started.adopt(await startGate(anvil.url), stopped);
  const secondGate = started.adopt(await startGate(anvil.url), stopped);
  const options: StackOptions = {
    folder,
    rpcUrls: {
      anvil: requested.hasSecondNode === true ? [gate.url, secondGate.url] : [gate.url],
      ...(solanaUrl === undefined ? {} : { 'solana-local': [solanaUrl] }),
      ...(bitcoinUrl === undefined ? {} : { 'bitcoin-regtest': [bitcoinUrl] }),
    },
    rateLimits,
    ...(entry === undefined ? {} : { entry }),
    ...(recoveryKeys === undefined ? {} : { recoveryKeys }),
    ...(login === undefined ? {} : { login }),
    ...(furtherEndpoints === undefined ? {} : { furtherEndpoints }),
    ...(approvalOrigin === undefined ? {} : { approvalOrigin }),
    ...(cosigners === undefined ? {} : { cosigners }),
    ...(cosignerUrls === undefined ? {} : { cosignerUrls }),
  };
  let stack: Stack = await startStack(options);
  started.defer(() => stack.stop());
  const service = new Client(stack.url, stack.serviceKey);
  const enter = (name: string) => createPerson(service, stack.url, name);
  const people: Cast = {
    alice: await enter('alice'),
    bob: await enter('bob'),
    carol: await enter('carol'),
    mallory: await enter('mallory'),
  };
  const chain = localChain(anvil.url);
  const at = (person: Person): Person => ({ ...person, client: person.client.at(stack.url) });
  const approve = async (id: string): Promise<string> => {
    for (const person of [people.alice, people.bob]) await at(person).client.approve(id);
    return id;
  };
  const running = started.move();
  return {
    gate,
    secondGate,
    chain,
    /** The address of the anvil node itself, behind the gate. */
    chainUrl: anvil.url,
    folder,
    /** Returns the people with clients for the current address of the service. */
    people: (): Cast => ({
      alice: at(people.alice),
      bob: at(people.bob),
      carol: at(people.carol),
      mallory: at(people.mallory),
    }),
    service: () => service.at(stack.url),
    stack: () => stack,
    /**
     * Creates a vault of alice, bob and carol that requires two approvals, with one ether at its
     * address.
     */
    vault: async (name: string, vaultOptions: Partial<VaultOptions> = {}): Promise<ReadyVault> => {
      const signers = [at(people.alice), at(people.bob), at(people.carol)];
      const vault = await createReadyVault(service.at(stack.url), { name, signers, threshold: 2, ...vaultOptions });
      await chain.fund(vault.address, ETHER);
      return vault;
    },
    /** Creates a transfer as alice, with the two approvals that it requires. Returns its id. */
    approved: async (body: TransferBody): Promise<string> => {
      const { id } = await at(people.alice).client.transfer(body);
      return approve(id);
    },
    /** Approves a transaction as alice and bob. Returns its id. */
    approve,
    restart: async (differences: Partial<StackOptions> = {}) => {
      stack = await startStack({ ...options, ...differences });
    },
    end: async () => {
      const log = await readFile(stack.logFile, 'utf8');
      await running.disposeAsync();
      const exceeded = log.split('\n').filter((line) => line.includes('limit-exceeded'));
      if (exceeded.length > 0) throw new Error(`limits of the platform were exceeded:\n${exceeded.join('\n')}`);
    },
  };
}

/**
 * Requests a transaction that the service refuses. Returns the status and the code. Throws if the
 * vault has another transaction afterwards.
 */
export async function refusalOf(
  { client }: Person,
  kind: string,
  body: { readonly vaultId: number } & Readonly<Record<string, unknown>>,
): Promise<readonly [status: number, code: string]> {
  const stored = async () => (await client.transactions(body.vaultId)).transactions.length;
  const before = await stored();
  const refused = await client.request<{ code: string }>('POST', `/transaction/${kind}`, { body });
  const after = await stored();
  if (after !== before) throw new Error(`A refused request changed ${before} transactions to ${after}.`);
  return [refused.status, refused.body.code];
}

/** Reads the transaction until it has ended, and returns its record. */
export function finished(person: Person, id: string): Promise<TransactionRecord> {
  return reaches(person, id, (record) => FINAL.has(record.state));
}

/**
 * Reads the transaction until the network has accepted its newest attempt, and returns its record.
 */
export function taken(person: Person, id: string): Promise<TransactionRecord> {
  return reaches(person, id, ({ attempts }) => attempts.at(-1)?.outcome === 'accepted');
}

/** Reads the transaction until `requested` accepts its record, and returns that record. */
export function reaches(
  person: Person,
  id: string,
  requested: (record: TransactionRecord) => boolean,
): Promise<TransactionRecord> {
  const observation = async () => {
    const record = await person.client.read(id);
    return requested(record) ? record : null;
  };
  return pollUntil(`wanted state of ${id}`, observation, DEADLINE_MS);
}
