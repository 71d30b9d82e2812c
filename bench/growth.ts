import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { createPerson, createReadyVault } from '#local/stack/provision.ts';
import type { Case } from './cases.ts';
import { request } from './load.ts';
import type { Scene } from './scene.ts';
import { CONNECTIONS, createMessages } from './messages.ts';

/**
 * The growth of cost: the same request with growing amounts of data, each compared with the
 * smallest.
 */

const TRANSACTIONS = [100, 10_000, 1_000_000];
/** Of a vault: in its object, which creates them one by one, and in D1. */
const OWN = [100, 10_000];
const HIDDEN = [1_000, 100_000];
const SIGNERS = [3, 10, 50];
/**
 * The runtime unloads an object after ten seconds without a request. With a thousand vaults it does
 * so while their transactions are created, and each approval would start an object first.
 */
const VAULTS = [1, 100];
/** More than one block can process. */
const APPROVALS_PER_BLOCK = 1_500;
const FOUNDERS = 8;
const MANY = 1_000_000;
/** Its keys are generated in a tenth of the time, and it has no RPC node here. */
const CHAIN = 'solana-devnet';

export function growthCases(scene: Scene): readonly Case[] {
  const common = { port: scene.ports.service, connections: CONNECTIONS, openLoop: true };
  const vaults: ReadyVault[] = [];
  const groups = new Map<number, Promise<ReadyVault>>();
  const people: Person[] = [scene.alice];
  const owned = new Map<number, Promise<OwnTransactions>>();
  const ownTransactions = (count: number) => {
    const own = owned.get(count) ?? createOwn(scene, count);
    owned.set(count, own);
    return own;
  };
  const reads = (what: string, path: (own: OwnTransactions) => string) => (count: number) => ({
    ...common,
    once: false,
    what: `${what} of a vault with ${count.toLocaleString('en')} pending transactions`,
    requests: async () => [request(`GET ${path(await ownTransactions(count))}`, { token: scene.alice.token })],
  });
  const lists = (what: string, path: string) => (count: number) => ({
    ...common,
    once: false,
    what: `${what} among ${count.toLocaleString('en')} hidden ones`,
    requests: async () => {
      const { id } = await scene.crowded(count, { isHidden: true });
      return [request(`GET /vault/${id}${path}`, { token: scene.alice.token })];
    },
  });
  const approvals = (over: () => Promise<readonly ReadyVault[]>) => async () => {
    const positions = (await over()).map(({ id }) => ({ vaultId: id, chain: CHAIN }));
    const ids = await createMessages(scene.alice, positions, APPROVALS_PER_BLOCK);
    return ids.map((id) => request(`POST /transaction/${id}/approve`, { token: scene.alice.token }));
  };
  const signers = async (count: number) => {
    while (people.length < count) people.push(await createPerson(scene.operator, scene.url, `signer-${people.length}`));
    return people.slice(0, count);
  };
  const signedBy = async (count: number) => {
    const group = groups.get(count) ?? found(scene, `group of ${count}`, await signers(count));
    groups.set(count, group);
    return [await group];
  };
  const firstOf = async (count: number) => {
    await foundMany(scene, vaults, count, await signers(3));
    return vaults.slice(0, count);
  };
  return [
    ...series('list', TRANSACTIONS, (count) => ({
      ...common,
      once: false,
      what: `fifty of ${count.toLocaleString('en')} transactions are listed`,
      requests: async () => {
        const { id } = await scene.crowded(count);
        return [request(`GET /vault/${id}/transactions?limit=50`, { token: scene.alice.token })];
      },
    })),
    ...series('listVisible', HIDDEN, lists('fifty visible transactions are listed', '/transactions?limit=50')),
    ...series('listState', HIDDEN, lists('fifty of one state are listed', '/transactions?limit=50&state=SUBMITTED')),
    ...series('history', HIDDEN, lists('fifty entries of the history are listed', '/history?limit=50')),
    ...series(
      'read',
      OWN,
      reads('one transaction', ({ newest }) => `/transaction/${newest}`),
    ),
    ...series(
      'listPending',
      OWN,
      reads('fifty transactions', ({ id }) => `/vault/${id}/transactions?limit=50`),
    ),
    ...series(
      'balances',
      OWN,
      reads('the balances', ({ id }) => `/vault/${id}/balances`),
    ),
    ...series('approveAmong', SIGNERS, (count) => ({
      ...common,
      once: true,
      what: `approvals in one vault of ${count} signers`,
      requests: approvals(() => signedBy(count)),
    })),
    ...series('approveOver', VAULTS, (count) => ({
      ...common,
      once: true,
      what: `approvals over ${count.toLocaleString('en')} ${count === 1 ? 'vault' : 'vaults'}`,
      requests: approvals(() => firstOf(count)),
    })),
  ];
}

interface OwnTransactions {
  /** The vault. */
  readonly id: number;
  /** Its newest transaction. */
  readonly newest: string;
}

/** Creates a vault whose object has this many pending transactions. */
async function createOwn(scene: Scene, count: number): Promise<OwnTransactions> {
  const signers = [scene.alice, scene.bob, await createPerson(scene.operator, scene.url, `owner-${count}`)];
  const { id } = await found(scene, `vault of ${count}`, signers);
  const ids = await createMessages(scene.alice, [{ vaultId: id, chain: CHAIN }], count);
  return { id, newest: ids.at(-1) ?? '' };
}

/** Returns one case for each size, each compared with the first. */
function series(
  name: string,
  sizes: readonly number[],
  caseOf: (size: number) => Omit<Case, 'name' | 'baseline'>,
): readonly Case[] {
  return sizes.map((size) => ({
    ...caseOf(size),
    name: `${name}${size}`,
    baseline: size === sizes[0] ? null : `${name}${sizes[0]}`,
  }));
}

/** One approval is never enough: it counts, and starts nothing. */
function found({ operator }: Scene, name: string, signers: readonly Person[]): Promise<ReadyVault> {
  const threshold = Math.min(3, signers.length);
  return createReadyVault(operator, { name, signers, threshold, mostPending: MANY, chains: [CHAIN], isOnAnvil: false });
}

async function foundMany(scene: Scene, vaults: ReadyVault[], count: number, signers: readonly Person[]): Promise<void> {
  const founders = Array.from({ length: FOUNDERS }, async (_, i) => {
    for (let n = vaults.length + i; n < count; n += FOUNDERS) vaults[n] = await found(scene, `vault ${n}`, signers);
  });
  await Promise.all(founders);
}
