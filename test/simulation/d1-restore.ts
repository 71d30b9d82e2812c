import { isDeepStrictEqual } from 'node:util';
import { isSettled, judgeHistory } from './final-checks.ts';
import type { World } from './world.ts';

/** What D1 repeats of the vaults, and nothing else knows when it is lost there. */
const REPEATED = {
  vaults: 'SELECT id, name, reference, created_at_ms FROM vaults ORDER BY id',
  members: 'SELECT * FROM members ORDER BY vault_id, user_id',
  wallets: 'SELECT * FROM wallets ORDER BY chain, address',
  transactions: 'SELECT * FROM transactions ORDER BY id',
  audit: 'SELECT * FROM audit ORDER BY vault_id, seq',
};

const RECOVERY_MS = 10 * 60_000;

/**
 * The last step: D1 loses everything that it copies from the vault, the vault sends it again, and
 * D1 is as it was.
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
    // Time goes on meanwhile: a change of policy may have expired, and then the history has one
    // more entry at its end. What follows is judged below.
    const comparable = table === 'audit' ? is.slice(0, was.length) : is;
    if (!isDeepStrictEqual(comparable, was)) world.oracle.fault(`set back: ${table} is not as it was`);
  }
  judgeHistory(world);
}
