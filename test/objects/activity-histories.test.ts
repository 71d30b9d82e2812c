import { expect, test } from 'vitest';
import { chainsFrom } from '#chains/registry.ts';
import type { Activity, ChainTransaction } from '#domain/activity.ts';
import { isWatched } from '#domain/activity.ts';
import { amountOf } from '#domain/amount.ts';
import { parseKeyId, parseVaultId } from '#domain/id.ts';
import { refused } from '#domain/result.ts';
import { NO_RULES } from '#domain/rules.ts';
import { ActivityDesk } from '#objects/activity-desk.ts';
import { ChangeSignal } from '#objects/change-signal.ts';
import { foundVault } from '#objects/membership.ts';
import { VaultCommit } from '#objects/vault-commit.ts';
import { VaultStorage } from '#objects/vault-storage.ts';
import { alice } from '../domain/cast.ts';
import { seededRandom } from '#local/seeded-random.ts';
import { memorySql } from './memory-sql.ts';

/**
 * Random histories of a chain, with blocks that are replaced, and deliveries about them that are lost, doubled, late and out of order.
 * After one whole look at the end the vault has exactly what the chain has: the same transactions, in the same blocks, once each, and
 * with them the same balance.
 */

const HISTORIES = 2_000;
const STEPS = 24;
const SEED = 4_021;
const FINAL_DEPTH = 8;
/** Never as deep as what is final. */
const DEEPEST_REORG = 5;

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const CAROL = '0x3333333333333333333333333333333333333333';

interface Payment {
  readonly hash: string;
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

/** A chain in memory: what it shows of a hash depends on the moment, as on a real one. */
class Chain {
  readonly blocks: { readonly hash: string; readonly payments: readonly Payment[] }[] = [];
  readonly everPaid: Payment[] = [];
  #waiting: Payment[] = [];
  #made = 0;
  /** Blocks that are beyond any reorganisation. */
  #final = 0;

  mine(chance: () => number): void {
    const taken = this.#waiting.filter(() => chance() < 0.7);
    this.#waiting = this.#waiting.filter((payment) => !taken.includes(payment));
    this.#made += 1;
    this.blocks.push({ hash: `0xb${this.#made}`, payments: taken });
    this.#final = Math.max(this.#final, this.blocks.length - FINAL_DEPTH + 1);
  }

  pay(chance: () => number): void {
    const party = () => [WALLET, WALLET, BOB, CAROL][Math.floor(chance() * 4)] ?? BOB;
    const units = BigInt(Math.floor(chance() * 5));
    const payment = { hash: `0x${this.everPaid.length}`, from: party(), to: party(), units };
    this.everPaid.push(payment);
    this.#waiting.push(payment);
  }

  /** The newest blocks are gone. Most of what they held waits again; some of it is lost for good. */
  reorganise(chance: () => number): void {
    const left = Math.max(this.#final, this.blocks.length - 1 - Math.floor(chance() * DEEPEST_REORG));
    for (const { payments } of this.blocks.splice(left)) this.#waiting.push(...payments.filter(() => chance() < 0.8));
  }

  show(hash: string): ChainTransaction | null {
    const index = this.blocks.findIndex(({ payments }) => payments.some((payment) => payment.hash === hash));
    const block = this.blocks[index];
    const payment = block?.payments.find((one) => one.hash === hash);
    if (block === undefined || payment === undefined) return null;
    const confirmations = this.blocks.length - index;
    const { from, to, units } = payment;
    const movement = { uid: 'top', kind: 'native', from, to, tokenAddress: null, tokenId: null } as const;
    return {
      hash,
      signer: from,
      fee: amountOf(1n),
      block: { number: String(index), hash: block.hash, confirmations, isFinal: confirmations >= FINAL_DEPTH },
      movements: [{ ...movement, amount: amountOf(units) }],
    };
  }
}

/** The desk of a real vault on real SQLite; only the object around it and its chain are not there. */
function newDesk() {
  const sql = memorySql();
  const storage = new VaultStorage(sql);
  storage.createTables();
  const [id, keyId] = [parseVaultId(7), parseKeyId('a'.repeat(26))];
  if (id === null || keyId === null) throw new Error('the ids must parse');
  const terms = { name: 'Treasury', initialState: 'SUBMITTED', decisionPeriodSeconds: 3600, mostPending: 100 } as const;
  const founded = foundVault({
    id,
    configuration: { ...terms, chains: ['anvil'], signingThreshold: 2 },
    members: [{ userId: alice.userId, roles: ['signer'] }],
    threshold: 1,
    rules: NO_RULES,
  });
  if (!founded.ok) throw new Error(founded.refusal);
  const key = { keyId, scheme: 'ecdsa-secp256k1', publicKey: '02', addresses: { anvil: WALLET } } as const;
  const vault = { ...founded.value, keys: [key] };
  const commits = new VaultCommit(
    { transactionSync: (writes: () => void) => writes(), setAlarm: async () => {} } as unknown as DurableObjectStorage,
    storage,
  );
  const desk = new ActivityDesk({
    storage,
    commits,
    chains: chainsFrom({}),
    changes: new ChangeSignal(),
    vault: () => vault,
    enter: () => refused({ code: 'forbidden' }),
  });
  const rows = () => sql.exec<{ document: string }>('SELECT document FROM activity').toArray();
  return { desk, records: () => rows().map(({ document }) => JSON.parse(document) as Activity) };
}

type Scene = ReturnType<typeof newDesk>;

const told = ({ desk }: Scene, chain: Chain, hash: string) =>
  desk.record({ chain: 'anvil', hash, seen: chain.show(hash) });

/** What the jobs do in the course of time: they look again at everything that is watched. */
async function follow(scene: Scene, chain: Chain): Promise<void> {
  for (const { hash } of scene.records().filter(isWatched)) await told(scene, chain, hash);
}

async function live(scene: Scene, chance: () => number): Promise<Chain> {
  const chain = new Chain();
  for (let step = 0; step < STEPS; step++) {
    const dice = chance();
    if (dice < 0.3) chain.pay(chance);
    else if (dice < 0.55) chain.mine(chance);
    else if (dice < 0.65) chain.reorganise(chance);
    else if (dice < 0.7) await follow(scene, chain);
    else {
      // A delivery about something of now or of long ago, as often as it likes.
      const some = chain.everPaid[Math.floor(chance() * chain.everPaid.length)];
      if (some !== undefined) await told(scene, chain, some.hash);
    }
  }
  return chain;
}

const line = (hash: string, block: string) => `${hash} in ${block}`;

test(`${HISTORIES} random histories end in what the chain has (seed ${SEED})`, async () => {
  const chance = seededRandom(SEED);
  let reorganised = 0;
  for (let number = 0; number < HISTORIES; number++) {
    const scene = newDesk();
    const chain = await live(scene, chance);
    await follow(scene, chain);
    // The look at the end, as reprocess does it: everything that is in the chain now.
    for (const { payments } of chain.blocks) for (const { hash } of payments) await told(scene, chain, hash);
    const records = scene.records();
    expect(new Set(records.map(({ hash }) => hash)).size).toBe(records.length);
    reorganised += records.filter(({ state }) => state === 'FAILED').length;
    const standing = records.filter(({ state }) => state !== 'FAILED');
    const concerns = ({ from, to }: Payment) => from === WALLET || to === WALLET;
    const onChain = chain.blocks.flatMap(({ hash: block, payments }) =>
      payments.filter(concerns).map((payment) => ({ ...payment, block })),
    );
    expect(new Set(standing.map(({ hash, block }) => line(hash, block.hash)))).toEqual(
      new Set(onChain.map(({ hash, block }) => line(hash, block))),
    );
    const sum = (all: readonly { from: string | null; to: string | null; units: bigint }[]) =>
      all.reduce(
        (total, { from, to, units }) => total + (to === WALLET ? units : 0n) - (from === WALLET ? units : 0n),
        0n,
      );
    const moved = standing.flatMap(({ movements }) => movements.map((one) => ({ ...one, units: BigInt(one.amount) })));
    expect(sum(moved)).toBe(sum(onChain));
  }
  // The story would be dull without.
  expect(reorganised).toBeGreaterThan(100);
}, 60_000);
