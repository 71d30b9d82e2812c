import fc from 'fast-check';
import { getAddress } from 'viem/utils';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { KnownTransaction, Log, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { movementsIn } from '#chains/evm/watch/movements.ts';
import { DEPOSIT, TRANSFER, TRANSFER_BATCH, TRANSFER_SINGLE, WITHDRAWAL } from '#chains/evm/rules/transfer-topics.ts';
import { chainsFrom } from '#chains/families/registry.ts';
import { amountOf, unitsOf } from '#domain/asset/amount.ts';
import { DAILY_LIMITS } from '#domain/activity/daily-limit.ts';
import { assetKey } from '#domain/asset/movement.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import { recordActivity } from '#objects/vault/commands/activity.ts';
import { listBalances } from '#objects/vault/commands/balance.ts';
import { alice, NOON_MS } from '../../domain/cast.ts';
import { BOB, newVaultScene, WALLET } from './vault-scene.ts';

/**
 * Covers the way from the logs of hostile tokens to the ledger and the default balances of a vault,
 * in any order of deliveries. Each event has its true effect on the chain beside it.
 * `ZOO_EVENTS` sets the number of events; a run of 100,000 takes minutes.
 */

const EVENTS = Number.parseInt(process.env['ZOO_EVENTS'] ?? '4000', 10);
const EVENTS_IN_RUN = 20;

const WETH = '0x4444444444444444444444444444444444444444';
const PRICED = '0x5555555555555555555555555555555555555555';
const JUNK = ['0x6666666666666666666666666666666666666666', '0x7777777777777777777777777777777777777777'] as const;
const CHAIN = chainsFrom({}).find(({ name }) => name === 'anvil');
if (CHAIN === undefined) throw new Error('there is no local chain');
const chain = { ...CHAIN, tokens: [{ address: WETH, symbol: 'WETH', decimals: 18, isCash: true }] };
const GWEI = 10n ** 9n;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

const known = { state: 'known', atMs: NOON_MS } as const;
/** An ether costs 2,500 dollars, a million units of the priced token one dollar. */
const valuation = {
  native: { price: { ...known, usdE12: '2500000000000000' }, decimals: 18 },
  tokens: [WETH, PRICED, ...JUNK].map((address) => ({
    address: getAddress(address),
    symbol: address === WETH ? 'WETH' : 'TKN',
    decimals: address === WETH ? 18 : 6,
    price:
      address === WETH
        ? { ...known, usdE12: '2500000000000000' }
        : address === PRICED
          ? { ...known, usdE12: '1000000000000' }
          : ({ state: 'unknown' } as const),
    isListed: address === WETH,
    imitates: null,
    hasPhishingText: address === JUNK[1],
  })),
};

const topic = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}` as const;
const words = (...values: readonly bigint[]) =>
  `0x${values.map((one) => one.toString(16).padStart(64, '0')).join('')}` as const;
const ZERO = `0x${'0'.repeat(40)}`;

/** What an event logs, and what it does to the wallet on the chain, by asset key. */
interface Event {
  readonly logs: readonly Omit<Log, 'index'>[];
  readonly effects: readonly (readonly [string, bigint])[];
}

const keyOf = (token: string, tokenId: string | null = null) => assetKey({ tokenAddress: getAddress(token), tokenId });
const none = (logs: Event['logs']): Event => ({ logs, effects: [] });

/** The log shapes of the zoo: what a contract can log, and what its logs are worth. */
function shapesOf(token: string, units: bigint, id: bigint): Readonly<Record<string, Event>> {
  const log = (topics: Log['topics'], data: Log['data'] = '0x', address = token) => ({
    address: address.toLowerCase() as Log['address'],
    topics,
    data,
  });
  const [wallet, bob, zero] = [topic(WALLET), topic(BOB), topic(ZERO)];
  const isWeth = token === WETH;
  return {
    received: { logs: [log([TRANSFER, bob, wallet], words(units))], effects: [[keyOf(token), units]] },
    minted: { logs: [log([TRANSFER, zero, wallet], words(units))], effects: [[keyOf(token), units]] },
    burnAndMint: {
      logs: [log([TRANSFER, bob, zero], words(units)), log([TRANSFER, zero, wallet], words(units))],
      effects: [[keyOf(token), units]],
    },
    unindexed: {
      logs: [log([TRANSFER], words(BigInt(BOB), BigInt(WALLET), units))],
      effects: [[keyOf(token), units]],
    },
    collectible: { logs: [log([TRANSFER, bob, wallet, words(id)])], effects: [[keyOf(token, id.toString()), 1n]] },
    single: {
      logs: [log([TRANSFER_SINGLE, bob, bob, wallet], words(id, units))],
      effects: [[keyOf(token, id.toString()), units]],
    },
    batch: {
      logs: [log([TRANSFER_BATCH, bob, bob, wallet], words(64n, 160n, 2n, id, id, 2n, units, 0n))],
      effects: [[keyOf(token, id.toString()), units]],
    },
    wrapped: { logs: [log([DEPOSIT, wallet], words(units))], effects: isWeth ? [[keyOf(token), units]] : [] },
    wrappedTwice: {
      logs: [log([TRANSFER, zero, wallet], words(units)), log([DEPOSIT, wallet], words(units))],
      effects: [[keyOf(token), units]],
    },
    unwrapped: { logs: [log([WITHDRAWAL, wallet], words(units))], effects: isWeth ? [[keyOf(token), -units]] : [] },
    // Noise that moves nothing.
    nothing: none([log([TRANSFER, wallet, bob], words(0n))]),
    halfWord: none([log([TRANSFER, bob, wallet], `0x${'ab'.repeat(31)}`)]),
    twoWords: none([log([TRANSFER, bob, wallet], words(units, units))]),
    noTopics: none([log([])]),
    falseBatch: none([log([TRANSFER_BATCH, bob, bob, wallet], words(2n ** 255n, 64n, units))]),
    longUnindexed: none([log([TRANSFER], words(BigInt(BOB), BigInt(WALLET), units, units))]),
    nativeLog: none([log([TRANSFER, bob, wallet], words(units), `0x${'f'.repeat(39)}e`)]),
    ownEvent: none([log([`0x${'5e'.repeat(32)}`, bob, wallet], words(units))]),
  };
}

const SHAPES = Object.keys(shapesOf(PRICED, 1n, 1n));

interface Step {
  readonly shape: string;
  readonly token: string;
  readonly units: bigint;
  readonly id: bigint;
  /** Wei that the transaction pays the wallet itself. */
  readonly value: bigint;
  readonly deliveries: number;
}

const step = fc.record<Step>({
  shape: fc.constantFrom(...SHAPES),
  token: fc.constantFrom(WETH, PRICED, ...JUNK),
  units: fc.oneof(fc.bigInt(1n, 10n), fc.bigInt(4_900n, 5_100n), fc.bigInt(10n ** 12n, 10n ** 20n)),
  id: fc.bigInt(0n, 3n),
  value: fc.oneof(fc.constant(0n), fc.bigInt(1n, 10n), fc.bigInt(1_900n * GWEI, 2_100n * GWEI)),
  deliveries: fc.integer({ min: 1, max: 3 }),
});

/** Reports whether an amount has half a cent of value, or a token is listed. */
function isShownByValue(key: string, units: bigint): boolean {
  if (key === '/') return units * 2_500n >= 5n * 10n ** 15n;
  // What a listed contract logs is shown, whatever its amount.
  if (key.startsWith(getAddress(WETH))) return true;
  return key === keyOf(PRICED) && units >= 5_000n;
}

test('visible and hidden balances are the ledger, the ledger is the chain, and nothing cheap is shown', async () => {
  let made = 0;
  const run = fc.asyncProperty(
    fc.array(step, { minLength: EVENTS_IN_RUN, maxLength: EVENTS_IN_RUN }),
    fc.infiniteStream(fc.nat()),
    fc.boolean(),
    async (steps, order, isFull) => {
      const { storage, host } = newVaultScene({ notificationsEnabled: false });
      for (const kind of isFull ? (['hidden', 'small'] as const) : []) {
        for (let i = 0; i < DAILY_LIMITS[kind]; i++)
          storage.activities.countRecord('anvil', kind, Math.floor(NOON_MS / DAY_MS));
      }
      const scene = { ...host, chains: [chain] };
      storage.balances.open({ chain: 'anvil', kind: 'native', tokenAddress: null, tokenId: null }, true);
      const truth = new Map<string, bigint>([['/', 0n]]);
      const mayBeShown = new Set<string>(['/']);
      const deliveries = steps.flatMap(({ shape, token, units, id, value, deliveries: times }) => {
        const event = shapesOf(token, units, id)[shape];
        if (event === undefined) throw new Error(shape);
        const effects = [...event.effects, ...(value === 0n ? [] : [['/', value] as const])];
        for (const [key, change] of effects) {
          truth.set(key, (truth.get(key) ?? 0n) + change);
          if (isShownByValue(key, change < 0n ? -change : change)) mayBeShown.add(key);
        }
        made += 1;
        const hash = `0x${made.toString(16).padStart(64, '0')}` as const;
        const logs = event.logs.map((log, i) => ({ ...log, index: BigInt(i) }));
        return Array.from({ length: times }, () => ({ hash, value, logs }));
      });
      const shuffled = deliveries
        .map((delivery) => ({ delivery, position: order.next().value }))
        .toSorted((a, b) => a.position - b.position);
      for (const { delivery } of shuffled) {
        const { hash, value, logs } = delivery;
        const knownTransaction: KnownTransaction = {
          mined: true,
          from: BOB,
          to: WALLET,
          value,
          data: '0x',
          gasLimit: 21_000n,
          isUnsigned: false,
          mint: 0n,
        };
        const receipt: Receipt = {
          blockNumber: 9n,
          blockHash: `0x${'b9'.repeat(32)}`,
          succeeded: true,
          gasUsed: 1n,
          effectiveGasPrice: 1n,
          rollupFee: 0n,
          logs,
          hasUnreadLogs: false,
        };
        const seen = {
          hash,
          signer: BOB,
          fee: amountOf(1n),
          block: { number: '9', hash: receipt.blockHash, confirmations: 70, isFinal: true },
          movements: movementsIn(receipt, knownTransaction, { trace: null, chain }),
        };
        await recordActivity(scene, { chain: 'anvil', hash, seen, valuation });
      }
      const page = (hiddenToo: boolean) => {
        const listed = listBalances(scene, alice, { after: null, limit: 100, hiddenToo });
        if (!listed.ok) throw new Error(listed.refusal.code);
        return listed.value.balances;
      };
      // Above the daily limits, what has no price is not posted.
      const isPosted = (key: string) => !isFull || JUNK.every((token) => !key.startsWith(getAddress(token)));
      const booked = new Map(page(true).map((one) => [assetKey(one.balance), one.current]));
      const nonZero = [...truth].filter(([key, units]) => units !== 0n && isPosted(key));
      expect(new Map([...booked].filter(([, units]) => units !== 0n))).toEqual(new Map(nonZero));
      const visible = page(false);
      for (const { balance, current } of visible) {
        expect(booked.get(assetKey(balance))).toBe(current);
        expect([...mayBeShown]).toContain(assetKey(balance));
      }
      // What is worth something is never hidden.
      const shown = new Set(visible.map(({ balance }) => assetKey(balance)));
      expect([...mayBeShown].filter((key) => booked.get(key) !== undefined && !shown.has(key))).toEqual([]);
      expect(visible.reduce((sum, { balance }) => sum + unitsOf(balance.late), 0n)).toBe(0n);
    },
  );
  await fc.assert(run, { numRuns: Math.ceil(EVENTS / EVENTS_IN_RUN) });
}, 3_600_000);
