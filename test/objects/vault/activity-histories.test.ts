import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Activity, ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import { isWatched } from '#domain/activity/activity.ts';
import { amountOf, signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Asset, ChainMovement } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { recordActivity } from '#objects/vault/commands/activity.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { NOON_MS, UNPRICED } from '../../domain/cast.ts';
import { inTurn } from '../../setup/turns.ts';
import { BOB, CAROL, newVaultScene, WALLET } from './vault-scene.ts';

/**
 * Runs random histories of a chain: the mempool drops transactions, blocks are replaced, and
 * deliveries are lost, repeated, late and out of order. After a complete scan at the end the vault
 * must equal the chain: the same transactions in the same blocks, each once, and the same balance
 * of every asset at every height.
 */

const HISTORIES = 400;
const STEPS = 24;
const SEEDS = [4_021, 4_022, 4_023, 4_024, 4_025];
const FINAL_DEPTH = 8;
/**
 * The maximum number of blocks that a reorganisation removes, less than the depth of a final block.
 */
const MAX_REORG_DEPTH = 5;
const FEE = 1n;
const STEP_MS = 1_000;
/** The time after which a waiting transaction that is not found counts as dropped. */
const PATIENCE_MS = 60_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => vi.useRealTimers());

/** Every kind of asset with a balance: the native asset, a token, and one item of a collection. */
const ASSETS: readonly Asset[] = [
  NATIVE,
  { kind: 'erc20', tokenAddress: '0x4444444444444444444444444444444444444444', tokenId: null },
  { kind: 'erc1155', tokenAddress: '0x5555555555555555555555555555555555555555', tokenId: '9' },
];

interface Payment {
  readonly asset: Asset;
  readonly from: string;
  readonly to: string;
  readonly units: bigint;
}

/** One transaction. Its signer may move the assets of another account that gave it an allowance. */
interface Paid {
  readonly hash: string;
  readonly signer: string;
  readonly payments: readonly Payment[];
}

/** An in-memory chain. As on a real chain, its answer about a hash depends on the moment. */
class Chain {
  readonly blocks: { readonly hash: string; readonly paid: readonly Paid[] }[] = [];
  readonly everPaid: Paid[] = [];
  #waiting: Paid[] = [];
  #made = 0;
  /** The number of blocks that no reorganisation can remove. */
  #final = 0;

  mine(chance: () => number): void {
    const paid = this.#waiting.filter(() => chance() < 0.7);
    this.#waiting = this.#waiting.filter((one) => !paid.includes(one));
    this.#made += 1;
    this.blocks.push({ hash: `0xb${this.#made}`, paid });
    this.#final = Math.max(this.#final, this.blocks.length - FINAL_DEPTH + 1);
  }

  pay(chance: () => number): void {
    const party = () => [WALLET, WALLET, BOB, CAROL][Math.floor(chance() * 4)] ?? BOB;
    const payment = (): Payment => ({
      asset: ASSETS[Math.floor(chance() * ASSETS.length)] ?? NATIVE,
      from: party(),
      to: party(),
      units: BigInt(Math.floor(chance() * 5)),
    });
    const payments = Array.from({ length: 1 + Math.floor(chance() * 3) }, payment);
    const one = { hash: `0x${this.everPaid.length}`, signer: party(), payments };
    this.everPaid.push(one);
    this.#waiting.push(one);
  }

  /**
   * Removes the newest blocks. Most of their transactions return to the mempool, and some are lost
   * permanently.
   */
  reorganise(chance: () => number): void {
    const left = Math.max(this.#final, this.blocks.length - 1 - Math.floor(chance() * MAX_REORG_DEPTH));
    for (const { paid } of this.blocks.splice(left)) this.#waiting.push(...paid.filter(() => chance() < 0.8));
  }

  /**
   * Drops about half of the waiting transactions, as a mempool does that forgets or replaces them.
   */
  forget(chance: () => number): void {
    this.#waiting = this.#waiting.filter(() => chance() < 0.5);
  }

  waits(hash: string): boolean {
    return this.#waiting.some((one) => one.hash === hash);
  }

  /**
   * Returns what a chain client shows of a hash. A waiting transaction is shown only if no block
   * was known to include it, and only with the movements in its bytes.
   */
  show(hash: string, knownIn: ActivityBlock | null): ChainTransaction | null {
    const index = this.blocks.findIndex(({ paid }) => paid.some((one) => one.hash === hash));
    const block = this.blocks[index];
    const found = block?.paid.find((one) => one.hash === hash);
    if (block === undefined || found === undefined) {
      const waiting = knownIn === null ? this.#waiting.find((one) => one.hash === hash) : undefined;
      if (waiting === undefined) return null;
      const movements = movementsOf(waiting).filter(({ kind }) => kind === 'native');
      return { hash, signer: waiting.signer, fee: null, block: null, movements };
    }
    const confirmations = this.blocks.length - index;
    return {
      hash,
      signer: found.signer,
      fee: amountOf(FEE),
      block: { number: String(index), hash: block.hash, confirmations, isFinal: confirmations >= FINAL_DEPTH },
      movements: movementsOf(found),
    };
  }
}

function movementsOf({ payments }: Paid): readonly ChainMovement[] {
  return payments.map(({ asset: { kind, ...asset }, from, to, units }, i) => {
    if (kind === 'splNft') throw new Error('not on this chain');
    return { uid: `log:${i}`, kind, ...asset, from, to, amount: amountOf(units) };
  });
}

function newScene() {
  const { sql, storage, host } = newVaultScene();
  const rows = () => sql.exec<{ document: string }>('SELECT document FROM activity').toArray();
  return {
    host,
    balances: storage.balances,
    records: () => rows().map(({ document }) => JSON.parse(document) as Activity),
  };
}

type Scene = ReturnType<typeof newScene>;

const report = ({ host }: Scene, seen: ChainTransaction | null, hash: string) =>
  recordActivity(host, { chain: 'anvil', hash, seen, valuation: UNPRICED });

/** Does the work of the jobs over time: reads every watched transaction again. */
async function follow(scene: Scene, chain: Chain): Promise<void> {
  for (const { hash, block } of scene.records().filter(isWatched)) await report(scene, chain.show(hash, block), hash);
}

/**
 * Handles a delivery. If the vault has a watched record and the chain shows no block, the vault
 * reads the transaction again against the block in the record.
 */
async function reported(scene: Scene, chain: Chain, hash: string): Promise<void> {
  const seen = chain.show(hash, null);
  const known = scene.records().find((one) => one.hash === hash);
  if (seen?.block == null && known !== undefined && isWatched(known)) {
    await report(scene, chain.show(hash, known.block), hash);
  }
  if (seen !== null) await report(scene, seen, hash);
}

async function live(scene: Scene, chance: () => number): Promise<Chain> {
  const chain = new Chain();
  for (let step = 0; step < STEPS; step++) {
    vi.setSystemTime(Date.now() + STEP_MS);
    const dice = chance();
    if (dice < 0.05) chain.forget(chance);
    else if (dice < 0.3) chain.pay(chance);
    else if (dice < 0.55) chain.mine(chance);
    else if (dice < 0.65) chain.reorganise(chance);
    else if (dice < 0.7) await follow(scene, chain);
    else {
      // This is a delivery about any transaction so far. Deliveries may be late or repeated.
      const some = chain.everPaid[Math.floor(chance() * chain.everPaid.length)];
      if (some !== undefined) await reported(scene, chain, some.hash);
    }
  }
  return chain;
}

/** Returns the wallet's amount of an asset after the first `count` blocks of a chain. */
function balanceOn({ blocks }: Chain, asset: Asset, count: number): bigint {
  return balanceOf(
    blocks.slice(0, count).flatMap(({ paid }) => paid),
    asset,
  );
}

function balanceOf(all: readonly Paid[], asset: Asset): bigint {
  return all.reduce((total, { signer, payments }) => {
    const fee = asset === NATIVE && signer === WALLET ? FEE : 0n;
    const moved = payments.filter((one) => one.asset === asset);
    const net = moved.reduce((sum, { from, to, units }) => {
      return sum + (to === WALLET ? units : 0n) - (from === WALLET ? units : 0n);
    }, 0n);
    return total + net - fee;
  }, 0n);
}

const line = (hash: string, block: string) => `${hash} in ${block}`;

test.each(inTurn(SEEDS, SEEDS.length))(
  `after ${HISTORIES} random histories the vault has the transactions and balances of the chain, seed %i`,
  async (seed) => {
    const chance = seededRandom(seed);
    let [reorganised, dropped, waited] = [0, 0, 0];
    for (let number = 0; number < HISTORIES; number++) {
      const scene = newScene();
      const chain = await live(scene, chance);
      vi.setSystemTime(Date.now() + PATIENCE_MS);
      await follow(scene, chain);
      // As a reprocessing does, this scan reports everything that is on the chain now.
      for (const { paid } of chain.blocks) for (const { hash } of paid) await reported(scene, chain, hash);
      const records = scene.records();
      expect(new Set(records.map(({ hash }) => hash)).size).toBe(records.length);
      reorganised += records.filter(({ stateReason }) => stateReason === 'REORGED').length;
      dropped += records.filter(({ stateReason }) => stateReason === 'DROPPED').length;
      const waiting = records.filter(({ state }) => state === 'BROADCAST');
      waited += waiting.length;
      expect(waiting.filter(({ hash, block }) => block !== null || !chain.waits(hash))).toEqual([]);
      const agreement = records.flatMap(({ hash, state, block }) =>
        block === null || state === 'FAILED' ? [] : [{ hash, block }],
      );
      const concerns = ({ signer, payments }: Paid) =>
        signer === WALLET || payments.some(({ from, to }) => from === WALLET || to === WALLET);
      const onChain = chain.blocks.flatMap(({ hash: block, paid }) =>
        paid.filter(concerns).map(({ hash }) => ({ hash, block })),
      );
      expect(new Set(agreement.map(({ hash, block }) => line(hash, block.hash)))).toEqual(
        new Set(onChain.map(({ hash, block }) => line(hash, block))),
      );
      // A final record stays final, even if the chain has become shorter since.
      const finalHashes = new Set(agreement.filter(({ block }) => block.isFinal).map(({ hash }) => hash));
      const finalOnes = chain.blocks.flatMap(({ paid }) => paid).filter(({ hash }) => finalHashes.has(hash));
      for (const asset of ASSETS) {
        const identity = { chain: 'anvil', ...asset };
        // The balances must also be right at every earlier block, because comparisons use a chain
        // whose newest blocks do not count yet.
        for (let height = 0; height <= chain.blocks.length; height++) {
          expect(scene.balances.standAt(identity, String(height)).recordedUnits).toBe(
            balanceOn(chain, asset, height + 1),
          );
        }
        const final = unitsOf(scene.balances.balance(identity)?.final ?? signedAmountOf(0n));
        expect(final).toBe(balanceOf(finalOnes, asset));
      }
    }
    // If no history had these cases, the test would prove nothing.
    for (const number of [reorganised, dropped, waited]) expect(number).toBeGreaterThan(20);
  },
);
