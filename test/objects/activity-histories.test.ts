import { expect, test } from 'vitest';
import type { Activity, ChainTransaction } from '#domain/activity.ts';
import { isWatched } from '#domain/activity.ts';
import { amountOf, signedAmountOf, unitsOf } from '#domain/amount.ts';
import { NATIVE } from '#domain/movement.ts';
import { ActivityDesk } from '#objects/activity-desk.ts';
import { seededRandom } from '#local/seeded-random.ts';
import { UNPRICED } from '../domain/cast.ts';
import { BOB, CAROL, newVaultScene, WALLET } from './vault-scene.ts';

/**
 * Random histories of a chain, with blocks that are replaced, and deliveries about them that are lost, doubled, late and out of order.
 * After one whole look at the end the vault has exactly what the chain has: the same transactions, in the same blocks, once each, and
 * with them the same balance at every height.
 */

const HISTORIES = 2_000;
const STEPS = 24;
const SEED = 4_021;
const FINAL_DEPTH = 8;
/** Never as deep as what is final. */
const DEEPEST_REORG = 5;
const FEE = 1n;

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
      fee: amountOf(FEE),
      block: { number: String(index), hash: block.hash, confirmations, isFinal: confirmations >= FINAL_DEPTH },
      movements: [{ ...movement, amount: amountOf(units) }],
    };
  }
}

function newDesk() {
  const { sql, storage, host } = newVaultScene();
  const rows = () => sql.exec<{ document: string }>('SELECT document FROM activity').toArray();
  return {
    desk: new ActivityDesk(host),
    ledger: storage.ledger,
    records: () => rows().map(({ document }) => JSON.parse(document) as Activity),
  };
}

type Scene = ReturnType<typeof newDesk>;

const told = ({ desk }: Scene, chain: Chain, hash: string) =>
  desk.record({ chain: 'anvil', hash, seen: chain.show(hash), appraisal: UNPRICED });

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

/** What the wallet has by the first so many blocks of a chain. */
function balanceOn({ blocks }: Chain, count: number): bigint {
  const payments = blocks.slice(0, Math.max(count, 0)).flatMap((block) => block.payments);
  return payments.reduce((total, { from, to, units }) => {
    return total + (to === WALLET ? units : 0n) - (from === WALLET ? units + FEE : 0n);
  }, 0n);
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
    const balance = balanceOn(chain, chain.blocks.length);
    const native = { chain: 'anvil', ...NATIVE };
    expect(scene.ledger.unitsAt(native, String(chain.blocks.length))).toBe(balance);
    // Also at every block before: the ledger is compared with a chain whose newest blocks do not count yet.
    for (let height = 0; height < chain.blocks.length; height++) {
      expect(scene.ledger.unitsAt(native, String(height))).toBe(balanceOn(chain, height + 1));
    }
    const final = unitsOf(scene.ledger.balance(native)?.final ?? signedAmountOf(0n));
    expect(final).toBe(balanceOn(chain, chain.blocks.length - FINAL_DEPTH + 1));
  }
  // The story would be dull without.
  expect(reorganised).toBeGreaterThan(100);
}, 60_000);
