import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Activity, ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import { isWatched } from '#domain/activity/activity.ts';
import { amountOf, signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Asset, ChainMovement } from '#domain/activity/movement.ts';
import { NATIVE } from '#domain/activity/movement.ts';
import { ActivityCommands } from '#objects/vault/commands/activity.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { NOON_MS, UNPRICED } from '../../domain/cast.ts';
import { inTurn } from '../../setup/turns.ts';
import { BOB, CAROL, newVaultScene, WALLET } from './vault-scene.ts';

/**
 * Runs random histories of a chain, with a mempool that forgets, with blocks that are replaced, and
 * deliveries about them that are lost, doubled, late and out of order. After one complete scan at
 * the end the vault has exactly what the chain has: the same transactions, in the same blocks, once
 * each, and with them the same balance of every asset at every height.
 */

const HISTORIES = 400;
const STEPS = 24;
const SEEDS = [4_021, 4_022, 4_023, 4_024, 4_025];
const FINAL_DEPTH = 8;
/** Less than the depth of a final block. */
const MAX_REORG_DEPTH = 5;
const FEE = 1n;
const STEP_MS = 1_000;
/** Long enough for a waiting transaction that is not found to count as gone. */
const PATIENCE_MS = 60_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => vi.useRealTimers());

/** Every kind of asset with a balance: the native asset, a token, and one of a collection. */
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

/** One account signs, and an account that gave it an allowance pays. */
interface Paid {
  readonly hash: string;
  readonly signer: string;
  readonly payments: readonly Payment[];
}

/** A chain in memory: what it shows of a hash depends on the moment, as on a real one. */
class Chain {
  readonly blocks: { readonly hash: string; readonly paid: readonly Paid[] }[] = [];
  readonly everPaid: Paid[] = [];
  #waiting: Paid[] = [];
  #made = 0;
  /** Blocks that are beyond any reorganisation. */
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
   * Removes the newest blocks. Most of their transactions wait again; some are lost permanently.
   */
  reorganise(chance: () => number): void {
    const left = Math.max(this.#final, this.blocks.length - 1 - Math.floor(chance() * MAX_REORG_DEPTH));
    for (const { paid } of this.blocks.splice(left)) this.#waiting.push(...paid.filter(() => chance() < 0.8));
  }

  /** Replaces or forgets a waiting transaction. */
  forget(chance: () => number): void {
    this.#waiting = this.#waiting.filter(() => chance() < 0.5);
  }

  waits(hash: string): boolean {
    return this.#waiting.some((one) => one.hash === hash);
  }

  /**
   * Shows what an adapter shows: a waiting transaction only if no block had it before, and of that
   * one only what its bytes show.
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

function newCommands() {
  const { sql, storage, host } = newVaultScene();
  const rows = () => sql.exec<{ document: string }>('SELECT document FROM activity').toArray();
  return {
    commands: new ActivityCommands(host, async () => null),
    balances: storage.balances,
    records: () => rows().map(({ document }) => JSON.parse(document) as Activity),
  };
}

type Scene = ReturnType<typeof newCommands>;

const report = ({ commands }: Scene, seen: ChainTransaction | null, hash: string) =>
  commands.record({ chain: 'anvil', hash, seen, valuation: UNPRICED });

/** Does what the jobs do in the course of time: they read everything again that is watched. */
async function follow(scene: Scene, chain: Chain): Promise<void> {
  for (const { hash, block } of scene.records().filter(isWatched)) await report(scene, chain.show(hash, block), hash);
}

/**
 * Handles a delivery: a vault with a record of a transaction without a block reads it again,
 * against the block that the record knows.
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
      // A delivery about something of now or of long ago, as often as it likes.
      const some = chain.everPaid[Math.floor(chance() * chain.everPaid.length)];
      if (some !== undefined) await reported(scene, chain, some.hash);
    }
  }
  return chain;
}

/** Returns the amount of an asset that the wallet has by the first so many blocks of a chain. */
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
  `${HISTORIES} random histories end in what the chain has, seed %i`,
  async (seed) => {
    const chance = seededRandom(seed);
    let [reorganised, dropped, waited] = [0, 0, 0];
    for (let number = 0; number < HISTORIES; number++) {
      const scene = newCommands();
      const chain = await live(scene, chance);
      vi.setSystemTime(Date.now() + PATIENCE_MS);
      await follow(scene, chain);
      // Scans at the end, as reprocess does: everything that is in the chain now.
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
      // A final record stays final, also if the chain has become shorter since.
      const finalHashes = new Set(agreement.filter(({ block }) => block.isFinal).map(({ hash }) => hash));
      const finalOnes = chain.blocks.flatMap(({ paid }) => paid).filter(({ hash }) => finalHashes.has(hash));
      for (const asset of ASSETS) {
        const identity = { chain: 'anvil', ...asset };
        // It holds at every block before, too: the balances are compared with a chain whose newest
        // blocks do not count yet.
        for (let height = 0; height <= chain.blocks.length; height++) {
          expect(scene.balances.standAt(identity, String(height)).recordedUnits).toBe(
            balanceOn(chain, asset, height + 1),
          );
        }
        const final = unitsOf(scene.balances.balance(identity)?.final ?? signedAmountOf(0n));
        expect(final).toBe(balanceOf(finalOnes, asset));
      }
    }
    // The test would be trivial without.
    for (const number of [reorganised, dropped, waited]) expect(number).toBeGreaterThan(20);
  },
  60_000,
);
