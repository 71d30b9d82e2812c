import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startAnvil } from '#local/evm/anvil.ts';
import { localChain } from '#local/evm/chain.ts';
import type { TransferBody } from '#cli/api-client.ts';
import { Client } from '#cli/api-client.ts';
import { UNLIMITED } from '#local/stack/configuration.ts';
import type { Person } from '#local/stack/provision.ts';
import { createPerson, createReadyVault } from '#local/stack/provision.ts';
import type { StackOptions } from '#local/stack/stack.ts';
import { startStack } from '#local/stack/stack.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { agreedBalance, faults } from './check.ts';
import { lockDatabase } from './ill-database.ts';
import { startIllNode } from './ill-node.ts';
import type { PaymentRequest } from './load.ts';
import { createAndApprove } from './load.ts';
import { readerOf, recover } from './recover.ts';

/**
 * Kills the whole service at random moments under load, restarts it on the remaining storage, and
 * then compares the answers to clients, the rows of D1 and the objects, and the chain. Between
 * kills the RPC node fails, D1 fails, or a co-signer is unreachable; after the last kill all of
 * them work. KILLS and SEED may be set; a seed repeats the moments, not the races.
 */

const KILLS = Number.parseInt(process.env['KILLS'] ?? '20', 10);
const SEED = Number.parseInt(process.env['SEED'] ?? String(Date.now() % 1_000_000), 10);
const CLIENTS = 4;
/**
 * The number of transfers per client and run of the service. More would only make the wait for the
 * last signature longer.
 */
const TRANSFERS_PER_LIFE = 4;
const MAX_LIFE_MS = 1_500;
/** The share of long runs and their length, which is enough for failed steps to be retried. */
const [LONG_LIVES, LONG_LIFE_MS] = [0.1, 12_000];
const COSIGNERS = 3;
const ETHER = 10n ** 18n;

/** The faults during one run of the service. */
interface Weather {
  readonly lifeMs: number;
  /** The share of the RPC node's answers that are wrong. */
  readonly illness: number;
  readonly absent: readonly number[];
  /** The time when D1 begins to fail, and for how long; null for no failure. */
  readonly database: { readonly fromMs: number; readonly forMs: number } | null;
}

function weatherOf(next: () => number): Weather {
  const lifeMs = next() < LONG_LIVES ? LONG_LIFE_MS : next() * MAX_LIFE_MS;
  const [illness, absence, failure] = [next(), next(), next()];
  return {
    lifeMs,
    illness: illness < 0.5 ? illness : 0,
    absent: absence < 0.4 ? [1 + Math.floor((absence / 0.4) * COSIGNERS)] : [],
    database: failure < 0.4 ? { fromMs: (failure / 0.4) * lifeMs, forMs: next() * lifeMs } : null,
  };
}

async function main(): Promise<readonly string[]> {
  console.log(`${KILLS} kills, seed ${SEED}`);
  const next = seededRandom(SEED);
  const folder = await mkdtemp(join(tmpdir(), 'conclave-kill-'));
  const anvil = await startAnvil();
  const node = await startIllNode(anvil.url, next);
  const options: StackOptions = { folder, rpcUrls: { anvil: [node.url] }, rateLimits: UNLIMITED };
  let stack = await startStack(options);
  try {
    const service = new Client(stack.url, stack.serviceKey);
    const people: Person[] = [];
    for (const name of ['alice', 'bob', 'carol']) people.push(await createPerson(service, stack.url, name));
    const vault = await createReadyVault(service, {
      name: 'treasury',
      signers: people,
      threshold: 2,
      mostPending: 10_000,
    });
    const chain = localChain(anvil.url);
    await chain.fund(vault.address, 1000n * ETHER);
    // No monitor reports the funding. After this call balances and chain agree.
    await agreedBalance(readerOf(people), vault, chain);
    // An address to which only this test pays.
    const recipient = '0x00000000000000000000000000000000c0ac1a4e';
    const body: TransferBody = { vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' };
    const signersNow = () => people.slice(0, 2).map((person) => ({ ...person, client: person.client.at(stack.url) }));

    await stack.stop();

    const payments: PaymentRequest[] = [];
    for (let kill = 1; kill <= KILLS; kill++) {
      const weather = weatherOf(next);
      stack = await startStack({ ...options, absent: weather.absent });
      node.fallIll(weather.illness);
      const signers = signersNow();
      const clients = Array.from({ length: CLIENTS }, async () => {
        for (let i = 0; i < TRANSFERS_PER_LIFE; i++)
          if ((await createAndApprove(signers, body, payments)) === 'gone') return;
      });
      const failure = weather.database === null ? null : failOnce(folder, weather.database);
      await pause(weather.lifeMs);
      await stack.kill();
      await Promise.all([...clients, failure]);
      console.log(`kill ${kill}: ${inWords(weather, payments)}`);
    }
    node.fallIll(0);
    stack = await startStack(options);
    await recover(signersNow(), payments, () => chain.sentBy(vault.address));
    console.log([...node.had].map(([name, times]) => `${name} ${times}`).join(', '));
    return await faults({ person: readerOf(signersNow()), signers: people, vault, payments, chain, recipient });
  } finally {
    await stack.stop();
    await node.stop();
    await anvil.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function failOnce(folder: string, { fromMs, forMs }: NonNullable<Weather['database']>): Promise<void> {
  await pause(fromMs);
  await lockDatabase(folder, forMs);
}

function inWords({ lifeMs, illness, absent, database }: Weather, payments: readonly PaymentRequest[]): string {
  const open = payments.filter(({ id }) => id === null).length;
  return [
    `after ${Math.round(lifeMs)} ms`,
    ...(illness === 0 ? [] : [`with ${Math.round(illness * 100)} % of the node's answers wrong`]),
    ...absent.map((number) => `without co-signer ${number}`),
    ...(database === null ? [] : [`D1 failing for ${Math.round(database.forMs)} ms`]),
    `${payments.length} transfers requested`,
    `${open} without an answer so far`,
  ].join(', ');
}

const found = await main();
for (const fault of found) console.error(fault);
console.log(found.length === 0 ? 'Nothing was lost and nothing was done twice.' : `${found.length} faults`);
process.exitCode = found.length === 0 ? 0 : 1;
