import { isDeepStrictEqual } from 'node:util';
import type { LocalChain } from '#local/evm/chain.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { PaymentRequest } from './load.ts';

interface Evidence {
  readonly person: Person;
  readonly signers: readonly Person[];
  readonly vault: ReadyVault;
  readonly payments: readonly PaymentRequest[];
  readonly chain: LocalChain;
  readonly recipient: string;
}

/**
 * The time in which every copy in D1 must become as new as its record. Thousands of records may end
 * shortly before.
 */
const CATCH_UP_MS = 5 * 60_000;

/** Returns a description of every violated expectation after the last recovery. */
export async function faults(evidence: Evidence): Promise<readonly string[]> {
  const { payments } = evidence;
  const { listed, copies, records } = await bothSides(evidence);
  const found: string[] = [];
  const say = (holds: boolean, fault: string) => {
    if (!holds) found.push(fault);
  };
  say(listed.length === payments.length, `${payments.length} transfers were asked for, the list has ${listed.length}`);
  const notes = new Set(listed.map(({ note }) => note));
  say(notes.size === listed.length, 'two transfers were made for one key');
  for (const payment of payments) {
    const record = records.get(payment.id ?? '');
    if (record === undefined) throw new Error('a transfer without an id has been recovered');
    found.push(...recordFaults(payment, record, evidence.signers));
    say(
      isDeepStrictEqual(copies.get(record.id), record),
      `${payment.id}: D1 and the object differ at version ${record.version}`,
    );
  }
  return [...found, ...(await chainFaults(evidence, listed)), ...(await balanceFaults(evidence))];
}

interface BothSides {
  readonly listed: readonly TransactionRecord[];
  /** The copies in D1, by transaction id. */
  readonly copies: ReadonlyMap<string, TransactionRecord | undefined>;
  readonly records: ReadonlyMap<string, TransactionRecord>;
}

/**
 * Returns every record with its copy in D1, each pair read at a moment when both have the same
 * version. Among two thousand records one is always about to change, because finality may be
 * recorded a minute after a success. A copy that never catches up exceeds the deadline.
 */
async function bothSides({ person, vault, payments }: Evidence): Promise<BothSides> {
  const copies = new Map<string, TransactionRecord | undefined>();
  const records = new Map<string, TransactionRecord>();
  const open = new Set(payments.flatMap(({ id }) => (id === null ? [] : [id])));
  return pollUntil(
    'record that D1 and its object have alike',
    async () => {
      const all = await listAll(person, vault.id);
      const listed = all.filter(({ direction }) => direction === 'out');
      const byId = new Map(listed.map((copy) => [copy.id, copy]));
      for (const id of open) {
        const [copy, record] = [byId.get(id), await person.client.read(id)];
        if (copy !== undefined && copy.version !== record.version) continue;
        copies.set(id, copy);
        records.set(id, record);
        open.delete(id);
      }
      return open.size === 0 ? { listed, copies, records } : null;
    },
    CATCH_UP_MS,
  );
}

/** Returns what is wrong with the record of a payment that ended. */
export function recordFaults(
  payment: PaymentRequest,
  record: TransactionRecord,
  signers: readonly Person[],
): readonly string[] {
  const approvers = new Set(record.approvals.map(({ userId }) => userId));
  const lost = signers.filter(({ name, id }) => payment.approvedBy.has(name) && !approvers.has(id));
  return [
    ...(record.note === payment.key ? [] : [`${record.id}: is not what was requested`]),
    ...(record.state === 'SUCCEEDED' ? [] : [`${record.id}: is ${record.state} ${record.stateReason ?? ''}`]),
    ...lost.map(({ name }) => `${record.id}: the acknowledged approval of ${name} is gone`),
    ...(approvers.size === record.approvals.length ? [] : [`${record.id}: one approval counts twice`]),
  ];
}

async function chainFaults(evidence: Evidence, listed: readonly TransactionRecord[]): Promise<readonly string[]> {
  const { chain, vault, payments, recipient } = evidence;
  const sent = await chain.sentBy(vault.address);
  const received = await chain.balance(recipient);
  const queued = payments.reduce((sum, { body }) => sum + BigInt(body.amount), 0n);
  const hashes = new Set(listed.map(({ txHash }) => txHash));
  return [
    ...(sent === payments.length ? [] : [`${payments.length} transfers, but the wallet has sent ${sent}`]),
    ...(received === queued ? [] : [`${queued} wei should have arrived, ${received} did`]),
    ...(hashes.size === payments.length ? [] : [`${hashes.size} different hashes for ${payments.length} transfers`]),
  ];
}

/**
 * Checks that the balances agree with the chain without an adjustment. An adjustment would hide a
 * ledger line that a crash has lost or doubled.
 */
async function balanceFaults({ person, vault, chain }: Evidence): Promise<readonly string[]> {
  const { adjustment } = await agreedBalance(person, vault, chain);
  return adjustment === null ? [] : [`the ledger was wrong by ${adjustment.amount}: ${adjustment.reason}`];
}

/**
 * Returns the native balance of the vault on anvil, once balances and chain agree. Throws an error
 * with both values when they do not.
 */
export async function agreedBalance(person: Person, vault: ReadyVault, chain: LocalChain) {
  await person.client.requestRescan(vault.id);
  let seen = '';
  const observation = async () => {
    const [native] = (await person.client.balances(vault.id)).balances;
    const held = (await chain.balance(vault.address)).toString();
    seen = `the chain says ${held}, the ledger ${JSON.stringify(native)}`;
    return native?.agreement === 'agrees' && native.current === held ? native : null;
  };
  try {
    return await pollUntil('balance that ledger and chain have alike', observation, CATCH_UP_MS);
  } catch (error) {
    throw new Error(seen, { cause: error });
  }
}

/** Returns every transaction of a vault, the newest first. */
export async function listAll(person: Person, vaultId: number): Promise<readonly TransactionRecord[]> {
  const all: TransactionRecord[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: { transactions: readonly TransactionRecord[]; nextCursor: string | null } =
      await person.client.transactions(vaultId, { limit: '100', ...(cursor === '' ? {} : { cursor }) });
    all.push(...page.transactions);
    cursor = page.nextCursor;
  }
  return all;
}
