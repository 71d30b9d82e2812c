import { expect, test } from 'vitest';
import type { Activity, ChainTransaction } from '#domain/activity.ts';
import { isWatched } from '#domain/activity.ts';
import { amountOf, signedAmountOf, unitsOf } from '#domain/amount.ts';
import type { Asset } from '#domain/movement.ts';
import { NATIVE } from '#domain/movement.ts';
import { ActivityDesk } from '#objects/activity-desk.ts';
import { seededRandom } from '#local/seeded-random.ts';
import { UNPRICED } from '../domain/cast.ts';
import { BOB, CAROL, newVaultScene, WALLET } from './vault-scene.ts';

/**
 * Random histories of a chain, with blocks that are replaced, and deliveries about them that are lost, doubled, late and out of order.
 * After one whole look at the end the vault has exactly what the chain has: the same transactions, in the same blocks, once each, and
 * with them the same balance of every asset at every height.
 */

const HISTORIES = 2_000;
const STEPS = 24;
const SEED = 4_021;
const FINAL_DEPTH = 8;
/** Never as deep as what is final. */
const DEEPEST_REORG = 5;
const FEE = 1n;

/** Every kind of asset that a balance is kept of: the coin, a token, and one of a collection. */
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

/** One signs, and whoever has given a leave for it pays. */
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

  /** The newest blocks are gone. Most of what they held waits again; some of it is lost for good. */
  reorganise(chance: () => number): void {
    const left = Math.max(this.#final, this.blocks.length - 1 - Math.floor(chance() * DEEPEST_REORG));
    for (const { paid } of this.blocks.splice(left)) this.#waiting.push(...paid.filter(() => chance() < 0.8));
  }

  show(hash: string): ChainTransaction | null {
    const index = this.blocks.findIndex(({ paid }) => paid.some((one) => one.hash === hash));
    const block = this.blocks[index];
    const found = block?.paid.find((one) => one.hash === hash);
    if (block === undefined || found === undefined) return null;
    const confirmations = this.blocks.length - index;
    return {
      hash,
      signer: found.signer,
      fee: amountOf(FEE),
      block: { number: String(index), hash: block.hash, confirmations, isFinal: confirmations >= FINAL_DEPTH },
      movements: found.payments.map(({ asset, from, to, units }, i) => ({
        uid: `log:${i}`,
        ...asset,
        from,
        to,
        amount: amountOf(units),
      })),
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

/** What the wallet has of an asset by the first so many blocks of a chain. */
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

test(`${HISTORIES} random histories end in what the chain has (seed ${SEED})`, async () => {
  const chance = seededRandom(SEED);
  let reorganised = 0;
  for (let number = 0; number < HISTORIES; number++) {
    const scene = newDesk();
    const chain = await live(scene, chance);
    await follow(scene, chain);
    // The look at the end, as reprocess does it: everything that is in the chain now.
    for (const { paid } of chain.blocks) for (const { hash } of paid) await told(scene, chain, hash);
    const records = scene.records();
    expect(new Set(records.map(({ hash }) => hash)).size).toBe(records.length);
    reorganised += records.filter(({ state }) => state === 'FAILED').length;
    const standing = records.filter(({ state }) => state !== 'FAILED');
    const concerns = ({ signer, payments }: Paid) =>
      signer === WALLET || payments.some(({ from, to }) => from === WALLET || to === WALLET);
    const onChain = chain.blocks.flatMap(({ hash: block, paid }) =>
      paid.filter(concerns).map(({ hash }) => ({ hash, block })),
    );
    expect(new Set(standing.map(({ hash, block }) => line(hash, block.hash)))).toEqual(
      new Set(onChain.map(({ hash, block }) => line(hash, block))),
    );
    // What was final once stays so, also where the chain has become shorter since.
    const finalHashes = new Set(standing.filter(({ block }) => block.isFinal).map(({ hash }) => hash));
    const finalOnes = chain.blocks.flatMap(({ paid }) => paid).filter(({ hash }) => finalHashes.has(hash));
    for (const asset of ASSETS) {
      const place = { chain: 'anvil', ...asset };
      // Also at every block before: the ledger is compared with a chain whose newest blocks do not count yet.
      for (let height = 0; height <= chain.blocks.length; height++) {
        expect(scene.ledger.unitsAt(place, String(height))).toBe(balanceOn(chain, asset, height + 1));
      }
      const final = unitsOf(scene.ledger.balance(place)?.final ?? signedAmountOf(0n));
      expect(final).toBe(balanceOf(finalOnes, asset));
    }
  }
  // The story would be dull without.
  expect(reorganised).toBeGreaterThan(100);
}, 60_000);
