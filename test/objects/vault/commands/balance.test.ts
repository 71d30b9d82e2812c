import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { chainsFrom } from '#chains/families/registry.ts';
import type { ChainTransaction } from '#domain/activity/activity.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import type { Valuation } from '#domain/asset/valuation.ts';
import { recordActivity, setActivityVisibility } from '#objects/vault/commands/activity.ts';
import { listBalances, reconcileWork, recordHoldings, requestRescan } from '#objects/vault/commands/balance.ts';
import type { BalanceView } from '#objects/vault/views.ts';
import { alice, mallory, NOON_MS, transactionIn, UNPRICED } from '../../../domain/cast.ts';
import { BOB, CAROL, newVaultScene, WALLET } from '../vault-scene.ts';
import type { Stated } from '../../../chains/readings.ts';
import { holdingsAt } from '../../../chains/readings.ts';

/**
 * Covers the balances of a vault while its chain advances, is reorganised, and is compared with the
 * balances.
 */

const DOLLAR = '0x4444444444444444444444444444444444444444';
const native = { chain: 'anvil', ...NATIVE };
const dollar = { chain: 'anvil', kind: 'erc20', tokenAddress: DOLLAR, tokenId: null } as const;
/** A time of twenty poll intervals of anvil, after which a scan counts as complete. */
const SCANNED_MS = 6_000;

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Returns a valuation without a price source, in which each token has a name. */
function readable(movements: readonly Partial<ChainMovement>[]): Valuation {
  const { price } = UNPRICED.native;
  const facts = { symbol: 'DUSD', decimals: 6, price, isListed: false, imitates: null, hasPhishingText: false };
  const tokens = new Set(movements.flatMap(({ tokenAddress }) => tokenAddress ?? []));
  return { ...UNPRICED, tokens: [...tokens].map((address) => ({ address, ...facts })) };
}

/** A millionth of a dollar for a token. */
const CHEAP = { state: 'known', usdE12: '1000000', atMs: NOON_MS } as const;

function newScene({ chains = chainsFrom({}) } = {}) {
  const { sql, storage, host: scene } = newVaultScene();
  const host = { ...scene, chains };
  storage.balances.open(native, true);
  let made = 0;
  return {
    host,
    storage,
    /**
     * Reports a transaction of bob in a block. The same hash again is another observation of that
     * transaction.
     */
    happens: (
      block: number,
      movements: readonly Partial<ChainMovement>[],
      { hash = `0x${(made += 1)}`, isFinal = true, signer = BOB, isGone = false, valuation = readable(movements) } = {},
    ) => {
      const seen: ChainTransaction = {
        hash,
        signer,
        fee: amountOf(1n),
        block: { number: String(block), hash: `0xb${block}`, confirmations: isFinal ? 70 : 1, isFinal },
        movements: movements.map((one, i) => ({
          uid: `log:${i}`,
          kind: 'native',
          from: BOB,
          to: WALLET,
          tokenAddress: null,
          tokenId: null,
          amount: amountOf(5n),
          ...one,
        })),
      };
      return recordActivity(host, { chain: 'anvil', hash, seen: isGone ? null : seen, valuation });
    },
    compared: (block: number, stated: Stated, asset: typeof native | typeof dollar = native) => {
      const held = holdingsAt(block, [stated]);
      return recordHoldings(host, { chain: 'anvil', assets: [asset], held, hasOpenScan: false });
    },
    shown: (): readonly BalanceView[] => {
      const page = listBalances(host, alice, { after: null, limit: 100, hiddenToo: false });
      if (!page.ok) throw new Error(page.refusal.code);
      return page.value.balances;
    },
    reported: () =>
      sql
        .exec<{ document: string }>('SELECT document FROM history')
        .toArray()
        .map(({ document }) => JSON.parse(document) as { action: string; reason: string; detail: string })
        .filter(({ action }) => action === 'adjust-balance'),
  };
}

const figures = ({ balance, incoming, outgoing }: BalanceView) => [balance.final, incoming, outgoing];
const tokens = { kind: 'erc20', tokenAddress: DOLLAR } as const;

test('an amount in a block that is not final is pending in or out, and a final amount is available', async () => {
  const { happens, shown } = newScene();
  expect(shown().map(figures)).toEqual([['0', 0n, 0n]]);
  await happens(7, [{}], { hash: '0xa', isFinal: false });
  await happens(7, [{ from: WALLET, to: CAROL, amount: amountOf(2n) }], { hash: '0xb', isFinal: false });
  expect(shown().map(figures)).toEqual([['0', 5n, 2n]]);
  expect(shown().map(({ current, outgoingMined }) => [current, outgoingMined])).toEqual([[3n, 2n]]);
  await happens(7, [{}], { hash: '0xa' });
  expect(shown().map(figures)).toEqual([['5', 0n, 2n]]);
  await happens(7, [], { hash: '0xb', isGone: true });
  expect(shown().map(figures)).toEqual([['5', 0n, 0n]]);
  expect(await happens(7, [{}], { hash: '0xa' })).toBe('unchanged');
  expect(shown().map(figures)).toEqual([['5', 0n, 0n]]);
});

test('the wallet pays the fee of transactions that it signed, and no other fee', async () => {
  const { happens, shown } = newScene();
  await happens(7, [{ amount: amountOf(9n) }]);
  await happens(8, [{ from: WALLET, to: BOB, amount: amountOf(2n) }], { signer: WALLET });
  await happens(9, [{ ...tokens, from: WALLET, to: BOB, amount: amountOf(2n) }]);
  expect(shown().map(figures)).toEqual([
    ['6', 0n, 0n],
    ['-2', 0n, 0n],
  ]);
});

test('a token without a balance is not listed, and the native asset always is', async () => {
  const { happens, shown, storage } = newScene();
  storage.addCounterparties([CAROL]);
  await happens(7, [tokens, { kind: 'erc721', tokenAddress: CAROL, tokenId: '9', amount: amountOf(1n) }]);
  expect(shown().map(({ kind, tokenId }) => [kind, tokenId])).toEqual([
    ['native', null],
    ['erc721', '9'],
    ['erc20', null],
  ]);
  await happens(8, [{ ...tokens, from: WALLET, to: BOB }]);
  expect(shown().map(({ kind }) => kind)).toEqual(['native', 'erc721']);
});

test('a page continues after the last asset of the previous page', async () => {
  const { host, happens, storage } = newScene();
  storage.addCounterparties([DOLLAR]);
  const ids = Array.from({ length: 9 }, (_, i) => String(i));
  await happens(
    7,
    ids.map((tokenId) => ({ kind: 'erc721', tokenAddress: DOLLAR, tokenId, amount: amountOf(1n) })),
  );
  const seen: (string | null)[] = [];
  let after: Parameters<typeof listBalances>[2]['after'] = null;
  for (;;) {
    const page = listBalances(host, alice, { after, limit: 4, hiddenToo: false });
    if (!page.ok || page.value.balances.length === 0) break;
    seen.push(...page.value.balances.map(({ tokenId }) => tokenId));
    after = page.value.balances.at(-1) ?? null;
  }
  expect(seen).toEqual([null, ...ids]);
});

test('only members can see the balances', () => {
  expect(listBalances(newScene().host, mallory, { after: null, limit: 10, hiddenToo: true })).toEqual({
    ok: false,
    refusal: { code: 'forbidden' },
  });
});

test('an unreported payment starts a scan, and the balance is adjusted with a history line if nothing is found', async () => {
  const alarm = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { host, happens, compared, shown, reported } = newScene();
  await happens(7, [{}]);
  expect(await compared(10, 5n)).toBeNull();
  await requestRescan(host, alice);
  expect(reconcileWork(host)[0]?.hasDiscrepancy).toBe(false);
  expect(await compared(20, 8n)).toEqual({ since: '10' });
  // A second message about this asset starts no second scan.
  expect(await compared(20, 8n)).toBeNull();
  expect([shown()[0]?.balance.final, reported()]).toEqual(['5', []]);
  await requestRescan(host, alice);
  expect(reconcileWork(host)[0]?.hasDiscrepancy).toBe(true);
  vi.setSystemTime(NOON_MS + SCANNED_MS);
  expect(await compared(30, 8n)).toBeNull();
  expect(shown()[0]?.balance).toMatchObject({ final: '8', adjustment: { units: '3', reason: 'UNSEEN_PAYMENT' } });
  const detail = {
    chain: 'anvil',
    kind: 'native',
    tokenAddress: null,
    tokenId: null,
    units: '3',
    fromBlock: '10',
    toBlock: '30',
  };
  expect(reported()).toMatchObject([{ reason: 'UNSEEN_PAYMENT', detail: JSON.stringify(detail) }]);
  expect(alarm).toHaveBeenCalledOnce();
});

test('a late record of an adjusted payment is not counted twice', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { happens, compared, shown, reported } = newScene();
  await compared(10, 0n);
  await compared(20, 3n);
  vi.setSystemTime(NOON_MS + SCANNED_MS);
  await compared(30, 3n);
  await happens(15, [{ amount: amountOf(3n) }]);
  expect(shown()[0]?.balance.final).toBe('6');
  await compared(40, 3n);
  vi.setSystemTime(NOON_MS + 2 * SCANNED_MS);
  await compared(41, 3n);
  expect([shown()[0]?.balance.final, reported().map(({ reason }) => reason)]).toEqual([
    '3',
    ['UNSEEN_PAYMENT', 'LATE_RECORD'],
  ]);
});

test('a difference while a payment of the wallet is in flight is scanned for once, and not accepted', async () => {
  const { compared, shown, storage } = newScene();
  await compared(10, 9n);
  const sent = transactionIn('BROADCAST');
  storage.insertTransaction(sent);
  storage.enqueueJob({ transactionId: sent.id, job: 'confirm', version: sent.version, dueAtMs: NOON_MS, tries: 0 });
  vi.setSystemTime(NOON_MS + SCANNED_MS);
  expect(await compared(20, 9n)).toBeNull();
  expect(await compared(30, 8n)).toBeNull();
  expect(shown()[0]?.balance).toMatchObject({ final: '0', adjustment: null, difference: { units: '8' } });
});

test('a second difference on top of the first starts another scan', async () => {
  const { compared } = newScene();
  await compared(10, 0n);
  expect(await compared(20, 3n)).toEqual({ since: '10' });
  expect(await compared(30, 4n)).toEqual({ since: '10' });
  expect(await compared(31, 4n)).toBeNull();
});

test('a payment that the scan finds in time explains the difference, and nothing is adjusted', async () => {
  const { happens, compared, shown, reported } = newScene();
  await compared(10, 0n);
  expect(await compared(20, 3n)).toEqual({ since: '10' });
  await happens(15, [{ amount: amountOf(3n) }], { isFinal: false });
  vi.setSystemTime(NOON_MS + SCANNED_MS);
  expect(await compared(21, 3n)).toBeNull();
  expect([shown()[0]?.balance.difference, shown()[0]?.incoming, reported()]).toEqual([null, 3n, []]);
});

test('an incoming payment whose block is gone does not count as a loss before the chain is read again', async () => {
  const { happens, compared, shown, reported } = newScene();
  await happens(7, [{}], { hash: '0xa', isFinal: false });
  expect(await compared(8, 0n)).toEqual({ since: null });
  vi.setSystemTime(NOON_MS + 2 * SCANNED_MS);
  await compared(9, 0n);
  expect([shown()[0]?.balance, reported()]).toMatchObject([{ adjustment: null, difference: { units: '-5' } }, []]);
  await happens(7, [{}], { hash: '0xa', isGone: true });
  await compared(10, 0n);
  expect([shown()[0]?.balance, reported()]).toMatchObject([{ final: '0', adjustment: null, difference: null }, []]);
});

test('a final difference is accepted, whatever arrived after the block of the comparison', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { happens, compared, shown } = newScene();
  await happens(7, [{ amount: amountOf(9n) }], { hash: '0xa', isFinal: false });
  await happens(11, [{}], { isFinal: false });
  await compared(8, 6n);
  vi.setSystemTime(NOON_MS + SCANNED_MS);
  await compared(9, 6n);
  expect(shown()[0]?.balance.adjustment).toBeNull();
  await happens(7, [{ amount: amountOf(9n) }], { hash: '0xa' });
  await compared(10, 6n);
  expect(shown()[0]?.balance).toMatchObject({ final: '6', adjustment: { units: '-3', reason: 'OPENING' } });
});

test('blocks after the block of a comparison do not count in that comparison', async () => {
  const { happens, compared, shown } = newScene();
  await happens(7, [{}]);
  await happens(12, [{}]);
  await happens(13, [{}], { isFinal: false });
  expect(await compared(10, 5n)).toBeNull();
  expect(shown().map(figures)).toEqual([['10', 5n, 0n]]);
});

test('an unreachable chain and a token that does not answer change nothing and are called again later', async () => {
  const { host, happens, compared, storage } = newScene();
  await happens(7, [tokens]);
  expect(reconcileWork(host)).toEqual([]);
  await requestRescan(host, alice);
  expect(reconcileWork(host).map(({ chain, address, assets }) => [chain.name, address, assets.length])).toEqual([
    ['anvil', WALLET, 2],
  ]);
  expect(await recordHoldings(host, { chain: 'anvil', assets: [native], held: null, hasOpenScan: false })).toBeNull();
  expect(await compared(10, 'not-read', dollar)).toBeNull();
  expect([reconcileWork(host), storage.balances.balance(dollar)?.check]).toEqual([[], null]);
  vi.setSystemTime(NOON_MS + 60_000);
  expect(reconcileWork(host)).toHaveLength(1);
});

test('a rescan reads each record again, final ones too, and does not advance a scan that is due soon', async () => {
  const { host, happens, storage } = newScene();
  await happens(7, [{}], { hash: '0xa', isFinal: false });
  const id = storage.activities.ofHash('anvil', '0xa')?.id ?? '';
  const queued = () => storage.queuedJob(id, 'follow');
  expect(queued()?.dueAtMs).toBe(NOON_MS + 60_000);
  vi.setSystemTime(NOON_MS + 10_000);
  await requestRescan(host, alice);
  expect(queued()?.dueAtMs).toBe(NOON_MS + 10_000);
  const row = queued();
  if (row !== null) storage.postpone(row, NOON_MS + 15_000);
  await requestRescan(host, alice);
  expect(queued()).toMatchObject({ dueAtMs: NOON_MS + 15_000, tries: 1 });
  await happens(7, [{}], { hash: '0xa' });
  expect(queued()).toBeNull();
  await requestRescan(host, alice);
  expect(queued()).toMatchObject({ dueAtMs: NOON_MS + 10_000, tries: 0 });
});

test('a wallet can have any number of tokens, and fifty are compared at once, the longest-waiting first', async () => {
  const { host, happens } = newScene();
  await happens(
    7,
    Array.from({ length: 70 }, (_, i) => ({ kind: 'erc20', tokenAddress: `0x${String(i).padStart(40, '0')}` })),
  );
  vi.setSystemTime(NOON_MS + 3_600_000);
  const [first] = reconcileWork(host);
  if (first === undefined) throw new Error('something is due');
  expect(first.assets).toHaveLength(50);
  vi.setSystemTime(NOON_MS + 3_600_001);
  await recordHoldings(host, { chain: 'anvil', assets: first.assets, held: null, hasOpenScan: false });
  expect(reconcileWork(host)[0]?.assets).toHaveLength(21);
});

test('a token that only hidden records have moved is not listed or compared until a member shows one of them', async () => {
  const { host, happens, shown, storage } = newScene();
  const unknown = { native: { price: { state: 'unknown' }, decimals: 18 }, tokens: [] } as const;
  await happens(7, [tokens], { hash: '0xaa', valuation: unknown });
  const all = () => listBalances(host, alice, { after: null, limit: 10, hiddenToo: true });
  expect([shown().map(({ kind }) => kind), all()]).toMatchObject([
    ['native'],
    {
      value: {
        balances: [
          { kind: 'native', visible: true },
          { kind: 'erc20', visible: false, balance: { final: '5' } },
        ],
      },
    },
  ]);
  await requestRescan(host, alice);
  expect(reconcileWork(host)[0]?.assets).toMatchObject([{ kind: 'native' }]);
  const id = storage.activities.ofHash('anvil', '0xaa')?.id;
  if (id === undefined) throw new Error('it is recorded');
  await setActivityVisibility(host, alice, { id, visible: true });
  expect(shown().map(({ kind, visible }) => [kind, visible])).toEqual([
    ['native', true],
    ['erc20', true],
  ]);
  await requestRescan(host, alice);
  expect(reconcileWork(host)[0]?.assets).toHaveLength(2);
  // The token stays listed when the record is hidden again, because no entry that a member has seen
  // may vanish from the balances.
  await setActivityVisibility(host, alice, { id, visible: false });
  expect(shown()).toHaveLength(2);
});

test('the balances list only what a visible record shows, what the vault has sent, and listed tokens', async () => {
  const { host, happens, shown } = newScene();
  const [usdc, bait] = [CAROL, DOLLAR];
  const listed = { address: usdc, symbol: 'USDC', decimals: 6, isCash: true };
  const chains = host.chains.map((chain) => (chain.name === 'anvil' ? { ...chain, tokens: [listed] } : chain));
  const story = newScene({ chains });
  const { price } = UNPRICED.native;
  const facts = { symbol: 'T', decimals: 6, price, imitates: null };
  const valuation: Valuation = {
    ...UNPRICED,
    tokens: [
      { ...facts, address: usdc, isListed: true, hasPhishingText: false },
      { ...facts, address: bait, isListed: false, hasPhishingText: true },
    ],
  };
  const move = (tokenAddress: string) => ({ kind: 'erc20', tokenAddress, amount: amountOf(9n) }) as const;
  await story.happens(7, [move(bait), move(usdc)], { valuation });
  expect(story.shown().map(({ tokenAddress }) => tokenAddress)).toEqual([null, usdc]);
  // The ledger has both.
  const all = listBalances(story.host, alice, { after: null, limit: 10, hiddenToo: true });
  expect(all.ok && all.value.balances.map(({ balance }) => balance.final)).toEqual(['0', '9', '9']);
  // A listed token is money, also when the record is hidden.
  const low = { ...valuation, tokens: valuation.tokens.map((one) => ({ ...one, price: CHEAP })) };
  const other = newScene({ chains });
  await other.happens(7, [move(usdc)], { hash: '0xaa', valuation: low });
  expect(other.storage.activities.ofHash('anvil', '0xaa')?.hiddenReason).toBe('LOW_VALUE');
  expect(other.shown().map(({ tokenAddress }) => tokenAddress)).toEqual([null, usdc]);
  // Once shown, the loss of a token is shown although no source knows its value.
  await happens(7, [move(bait)]);
  await happens(8, [{ ...move(bait), from: WALLET, to: CAROL }], { hash: '0xbb', valuation: UNPRICED });
  expect(host.storage.activities.ofHash('anvil', '0xbb')?.visible).toBe(true);
  expect(shown().map(({ tokenAddress }) => tokenAddress)).toEqual([null]);
});
