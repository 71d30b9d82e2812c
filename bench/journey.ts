import { pollUntil } from '#local/stack/poll.ts';
import type { AuditRow, Scene } from './scene.ts';

/** Milliseconds. */
export interface JourneyTimes {
  /**
   * From the last approval to the stored signed bytes: outbox, alarm, queue, fees from the chain,
   * and the signature.
   */
  readonly approvedToSigned: readonly number[];
  /** From the 'accepted' of the node (anvil mines at once) to SUCCEEDED in any read. */
  readonly minedToSucceeded: readonly number[];
}

/** Transfers are sequential with some time between, as in a calm treasury. */
const TRANSFERS = 40;
const BETWEEN_MS = 100;
const DEADLINE_MS = 60_000;

/** Runs whole transfers and returns the times from the vault's own history. */
export async function travel(scene: Scene): Promise<JourneyTimes> {
  const { alice, bob, vault, recipient } = scene;
  const ids: string[] = [];
  for (let i = 0; i < TRANSFERS; i++) {
    const { id } = await alice.client.transfer({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1' });
    await alice.client.approve(id);
    await bob.client.approve(id);
    ids.push(id);
    await pollUntil(
      `success of ${id}`,
      async () => ((await alice.client.read(id)).state === 'SUCCEEDED' ? id : null),
      DEADLINE_MS,
    );
    await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
  }
  // The history reaches D1 a moment later than the object.
  const included = await pollUntil(
    'history',
    async () => {
      const rows = timesOf(await scene.audit('include'));
      return ids.every((id) => rows.has(id)) ? rows : null;
    },
    DEADLINE_MS,
  );
  const [approved, signed, sent] = [
    timesOf(await scene.audit('approve')),
    timesOf(await scene.audit('sign')),
    timesOf(await scene.audit('send')),
  ];
  const between = (from: ReadonlyMap<string, number>, to: ReadonlyMap<string, number>) =>
    ids.map((id) => (to.get(id) ?? 0) - (from.get(id) ?? 0)).toSorted((a, b) => a - b);
  return { approvedToSigned: between(approved, signed), minedToSucceeded: between(sent, included) };
}

/** Returns the last time of each transaction. */
function timesOf(rows: readonly AuditRow[]): ReadonlyMap<string, number> {
  return new Map(rows.map(({ transactionId, atMs }) => [transactionId, atMs]));
}
