import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startAnvil } from '#local/anvil.ts';
import { localChain } from '#local/chain.ts';
import type { TransferBody } from '#local/client.ts';
import { Client } from '#local/client.ts';
import type { Person } from '#local/provision.ts';
import { enterPerson, foundVault } from '#local/provision.ts';
import type { StackOptions } from '#local/stack.ts';
import { startStack } from '#local/stack.ts';
import { until } from '#local/until.ts';
import { seededRandom } from '#local/seeded-random.ts';
import { agreedBalance, faults } from './check.ts';
import type { Wish } from './load.ts';
import { ensureApproved, ensureCreated, wishAndApprove } from './load.ts';

/**
 * Kills the whole service at random moments under load, restarts it on what is left, and then compares what clients were told,
 * what D1 and the objects hold, and what the chain has. KILLS and SEED may be set; a seed repeats the moments, not the races.
 */

const KILLS = Number.parseInt(process.env['KILLS'] ?? '20', 10);
const SEED = Number.parseInt(process.env['SEED'] ?? String(Date.now() % 1_000_000), 10);
const CLIENTS = 4;
/** Per client and life: more would only make the wait for the last signature longer. */
const TRANSFERS_PER_LIFE = 4;
const LONGEST_LIFE_MS = 1_500;
const RECOVERY_MS = 300_000;
const ETHER = 10n ** 18n;
const UNLIMITED = { read: 1_000_000, write: 1_000_000 };

async function main(): Promise<readonly string[]> {
  console.log(`${KILLS} kills, seed ${SEED}`);
  const next = seededRandom(SEED);
  const folder = await mkdtemp(join(tmpdir(), 'conclave-kill-'));
  const anvil = await startAnvil();
  const options: StackOptions = { folder, rpcUrls: { anvil: [anvil.url] }, rateLimits: UNLIMITED };
  let stack = await startStack(options);
  try {
    const service = new Client(stack.url, stack.serviceKey);
    const people: Person[] = [];
    for (const name of ['alice', 'bob', 'carol']) people.push(await enterPerson(service, stack.url, name));
    const vault = await foundVault(service, { name: 'treasury', signers: people, threshold: 2, mostPending: 10_000 });
    const chain = localChain(anvil.url);
    await chain.fund(vault.address, 1000n * ETHER);
    const [first] = people;
    if (first === undefined) throw new Error('somebody must look');
    // No monitor tells of the money; from here on ledger and chain are alike.
    await agreedBalance(first, vault, chain);
    // An address that nothing else ever pays to.
    const recipient = '0x00000000000000000000000000000000c0ac1a4e';
    const body: TransferBody = { vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' };
    const signersNow = () => people.slice(0, 2).map((person) => ({ ...person, client: person.client.at(stack.url) }));

    const wishes: Wish[] = [];
    for (let kill = 1; kill <= KILLS; kill++) {
      const signers = signersNow();
      const clients = Array.from({ length: CLIENTS }, async () => {
        for (let i = 0; i < TRANSFERS_PER_LIFE; i++) if (!(await wishAndApprove(signers, body, wishes))) return;
      });
      await pause(next() * LONGEST_LIFE_MS);
      await stack.kill();
      await Promise.all(clients);
      const open = wishes.filter(({ id }) => id === null).length;
      console.log(`kill ${kill}: ${wishes.length} transfers asked for, ${open} without an answer so far`);
      stack = await startStack(options);
    }
    await recover(signersNow(), wishes);
    const person = signersNow()[0];
    if (person === undefined) throw new Error('somebody must look');
    return await faults({ person, signers: people, vault, wishes, chain, recipient });
  } finally {
    await stack.stop();
    await anvil.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Does what clients do after a breakdown: asks again for everything that has no answer, and waits. */
async function recover(signers: readonly Person[], wishes: readonly Wish[]): Promise<void> {
  const unknown = wishes.filter(({ id }) => id === null).length;
  for (const wish of wishes) {
    if (!(await ensureCreated(signers, wish))) throw new Error('the service is gone, and nobody has killed it');
    if (!(await ensureApproved(signers, wish))) throw new Error('the service is gone, and nobody has killed it');
  }
  console.log(`${wishes.length} transfers stand, ${unknown} of them were asked for again; waiting for the last`);
  const reader = signers[0];
  if (reader === undefined) throw new Error('somebody must look');
  for (const { id } of wishes) {
    const look = async () => ((await reader.client.read(id ?? '')).state === 'SUCCEEDED' ? true : null);
    await until(`success of ${id}`, look, RECOVERY_MS);
  }
}

const found = await main();
for (const fault of found) console.error(fault);
console.log(found.length === 0 ? 'Nothing was lost and nothing was done twice.' : `${found.length} faults`);
process.exitCode = found.length === 0 ? 0 : 1;
