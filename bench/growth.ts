import { good } from '#local/client.ts';
import type { Person } from '#local/provision.ts';
import { addressesOf, enterPerson } from '#local/provision.ts';
import { until } from '#local/until.ts';
import type { Case } from './cases.ts';
import { request } from './load.ts';
import type { Scene } from './scene.ts';

/** How cost grows: the same request with more and more around it, each held against the smallest. */

const TRANSACTIONS = [100, 10_000, 1_000_000];
const SIGNERS = [3, 10, 50];
const VAULTS = [1, 30, 1_000];
const CONNECTIONS = 16;
/** More than one block can take. */
const APPROVALS_PER_BLOCK = 2_000;
const FOUNDERS = 8;
const MANY = 1_000_000;
const KEY_MS = 60_000;
/** Its keys are made in a tenth of the time, and it has no node here. */
const CHAIN = 'solana-devnet';

interface Founded {
  readonly id: number;
  /** Pays to itself: nothing is ever sent. */
  readonly address: string;
}

export function growthCases(scene: Scene): readonly Case[] {
  const common = { port: scene.ports.service, connections: CONNECTIONS, openLoop: true };
  const vaults: Founded[] = [];
  const groups = new Map<number, Promise<Founded>>();
  const people: Person[] = [scene.alice];
  const approvals = (over: () => Promise<readonly Founded[]>) => async () => {
    const ids = await createMany(scene, await over());
    return ids.map((id) => request(`POST /transaction/${id}/approve`, { token: scene.alice.token }));
  };
  const signedBy = async (count: number) => {
    while (people.length < count) people.push(await enterPerson(scene.operator, scene.url, `signer-${people.length}`));
    const group = groups.get(count) ?? found(scene, `group of ${count}`, people.slice(0, count));
    groups.set(count, group);
    return [await group];
  };
  const firstOf = async (count: number) => {
    while (people.length < 3) people.push(await enterPerson(scene.operator, scene.url, `signer-${people.length}`));
    await foundMany(scene, vaults, count, people.slice(0, 3));
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

/** One case for each size, each held against the first. */
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

/** One voice is never enough: an approval counts, and starts nothing. */
async function found({ operator }: Scene, name: string, signers: readonly Person[]): Promise<Founded> {
  const json = {
    name,
    members: signers.map(({ id }) => ({ userId: id, roles: ['initiator' as const, 'signer' as const] })),
    threshold: Math.min(3, signers.length),
    initialState: 'SUBMITTED' as const,
    chains: [CHAIN],
    mostPending: MANY,
  };
  const { id } = await good(operator.api.internal.vault.$post({ json }));
  const addresses = await until('key', () => addressesOf(operator, id), KEY_MS);
  return { id, address: addresses[CHAIN] ?? '' };
}

async function foundMany(scene: Scene, vaults: Founded[], count: number, signers: readonly Person[]): Promise<void> {
  const founders = Array.from({ length: FOUNDERS }, async (_, i) => {
    for (let n = vaults.length + i; n < count; n += FOUNDERS) vaults[n] = await found(scene, `vault ${n}`, signers);
  });
  await Promise.all(founders);
}

/** As many for each vault, one vault after the other. */
async function createMany({ alice }: Scene, vaults: readonly Founded[]): Promise<readonly string[]> {
  const ids: string[] = [];
  let next = 0;
  const creators = Array.from({ length: CONNECTIONS }, async () => {
    while (next < APPROVALS_PER_BLOCK) {
      const vault = vaults[next % vaults.length];
      next += 1;
      if (vault === undefined) throw new Error('there is no vault');
      const { id } = await alice.client.transfer({ vaultId: vault.id, chain: CHAIN, to: vault.address, amount: '1' });
      ids.push(id);
    }
  });
  await Promise.all(creators);
  return ids;
}
