import { isDeepStrictEqual } from 'node:util';
import { isSettled, judgeHistory } from './final-checks.ts';
import type { World } from './world.ts';

/** The data in D1 that is copied from vaults and that no other store has when D1 loses it. */
const REPEATED = {
  vaults: 'SELECT id, name, reference, created_at_ms FROM vaults ORDER BY id',
  members: 'SELECT * FROM members ORDER BY vault_id, user_id',
  wallets: 'SELECT * FROM wallets ORDER BY chain, address',
  transactions: 'SELECT * FROM transactions ORDER BY id',
  audit: 'SELECT * FROM audit ORDER BY vault_id, seq',
};

const RECOVERY_MS = 10 * 60_000;

/**
 * Deletes everything in D1 that is copied from the vault, has the vault project it again, and
 * checks that D1 is as before.
 */
export async function setBack(world: World): Promise<void> {
  const { db } = world.d1;
  const reported = () => Object.values(REPEATED).map((query) => db.run(query, []).rows);
  const before = reported();
  for (const table of Object.keys(REPEATED)) db.run(`DELETE FROM ${table}`, []);
  let isRequested = false;
  const rebuild = async () => {
    const answer = await world.request(`POST /internal/vault/${world.vaultId}/projection`);
    if (answer?.status !== 202) world.oracle.fault(`set back: ${answer?.status ?? 'no answer'}`);
    isRequested = true;
  };
  const rebuilding = rebuild();
  await world.schedule.run(() => isRequested && isSettled(world), RECOVERY_MS);
  await rebuilding;
  const after = reported();
  for (const [i, [table]] of Object.entries(REPEATED).entries()) {
    const [was, is] = [before[i] ?? [], after[i] ?? []];
    // A policy change may have expired in the meantime. Then the history has one more entry, which
    // is checked below.
    const comparable = table === 'audit' ? is.slice(0, was.length) : is;
    if (!isDeepStrictEqual(comparable, was)) world.oracle.fault(`set back: ${table} is not as it was`);
  }
  judgeHistory(world);
}
