import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import type { ListedToken } from '#domain/asset/chain.ts';
import type { PolicyToken } from '#domain/policy/optional-rules.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import type { TokenProfile } from '#domain/asset/valuation.ts';
import { recordActivity } from '#objects/vault/commands/activity.ts';
import { listBalances, recordHoldings } from '#objects/vault/commands/balance.ts';
import { activityCodec } from '#objects/vault/documents/activity-documents.ts';
import { present } from '../../../chains/evm/cast.ts';
import { alice, NOON_MS, UNPRICED } from '../../../domain/cast.ts';
import { BOB, newVaultScene, WALLET } from '../vault-scene.ts';

/** Covers hidden records of a token that an operator lists later. */

const [MEME, JUNK] = ['0x4444444444444444444444444444444444444444', '0x5555555555555555555555555555555555555555'];
const meme: ListedToken = { address: MEME, symbol: 'MEME', decimals: 6, isCash: true };

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function newScene() {
  const { sql, storage, host } = newVaultScene();
  storage.balances.open({ chain: 'anvil', ...NATIVE }, true);
  let made = 0;
  const profile = (address: string): TokenProfile => ({
    address,
    symbol: 'VISIT',
    decimals: 6,
    price: { state: 'unpriced' },
    isListed: false,
    imitates: null,
    hasPhishingText: true,
  });
  const listing = (tokens: readonly ListedToken[]) =>
    host.chains.map((chain) => (chain.name === 'anvil' ? { ...chain, tokens } : chain));
  const adopting = (tokens: readonly PolicyToken[]) => {
    const vault = present(host.vault());
    return { ...vault, policy: { ...vault.policy, rules: { ...vault.policy.rules, tokens } } };
  };
  return {
    storage,
    receives: async (...tokens: readonly string[]) => {
      const hash = `0x${(made += 1)}`;
      const movements = tokens.map((tokenAddress, i) => ({
        uid: `log:${i}`,
        kind: 'erc20' as const,
        from: BOB,
        to: WALLET,
        tokenAddress,
        tokenId: null,
        amount: amountOf(7n),
      }));
      const block = { number: '7', hash: '0xb7', confirmations: 90, isFinal: true };
      const seen = { hash, signer: BOB, fee: amountOf(1n), block, movements };
      const valuation = { ...UNPRICED, tokens: tokens.map(profile) };
      await recordActivity(host, { chain: 'anvil', hash, seen, valuation });
      return () => present(storage.activities.ofHash('anvil', hash));
    },
    /** Compares the balances while these tokens are listed, and the policy names others. */
    compares: (tokens: readonly ListedToken[], adopted?: readonly PolicyToken[]) =>
      recordHoldings(
        { ...host, chains: listing(tokens), ...(adopted === undefined ? {} : { vault: () => adopting(adopted) }) },
        { chain: 'anvil', assets: [{ chain: 'anvil', ...NATIVE }], held: null, hasOpenScan: false },
      ),
    tokens: () => {
      const page = listBalances(host, alice, { after: null, limit: 10, hiddenToo: false });
      return page.ok ? page.value.balances.map(({ tokenAddress }) => tokenAddress) : [];
    },
    /** Stores a record in the form of release 0.2.0. */
    age: (id: string) => {
      const { hiddenPart: _, ...old } = present(storage.activities.read(id));
      sql.exec('UPDATE activity SET document = ? WHERE id = ?', activityCodec.encode(old), id);
    },
    damage: (id: string) => sql.exec("UPDATE activity SET document = '{}' WHERE id = ?", id),
    actions: () => storage.history.after(0, 1_000).filter(({ action }) => action === 'judge').length,
  };
}

test('hidden records of a token are shown after it is listed, and other tokens in them stay hidden', async () => {
  const { receives, compares, tokens, actions } = newScene();
  const [alone, both, junk] = [await receives(MEME), await receives(MEME, JUNK), await receives(JUNK)];
  await compares([]);
  expect([alone().hiddenReason, both().hiddenReason, tokens()]).toEqual(['BAIT', 'BAIT', [null]]);
  await compares([meme]);
  expect([alone(), both(), junk()].map(({ visible }) => visible)).toEqual([true, true, false]);
  expect([alone().hiddenPart, both().hiddenPart?.assets]).toEqual([null, [{ tokenAddress: JUNK, reason: 'BAIT' }]]);
  expect([both().hiddenPart?.shownMovementCount, both().changes[0]?.isCash, tokens()]).toEqual([1, true, [null, MEME]]);
  await compares([meme]);
  expect([actions(), alone().version]).toEqual([2, 2]);
});

test('hidden records of a token are shown after the policy names it, on its chain alone', async () => {
  const { receives, compares, tokens } = newScene();
  const [record, junk] = [await receives(MEME), await receives(JUNK)];
  const adopted = { chain: 'eip155:31337', tokenAddress: MEME, symbol: 'MEME', decimals: 6 };
  await compares([], [{ ...adopted, chain: 'eip155:1' }]);
  expect(record().visible).toBe(false);
  await compares([], [adopted]);
  expect([record().visible, junk().visible, tokens()]).toEqual([true, false, [null, MEME]]);
});

test('a record of release 0.2.0 is judged again, and the choice of a member stays', async () => {
  const { receives, compares, age, storage } = newScene();
  const [old, chosen] = [await receives(MEME, JUNK), await receives(MEME)];
  age(old().id);
  storage.activities.put({ ...chosen(), visibilityChoice: false });
  await compares([meme]);
  expect([old().visible, old().hiddenPart?.assets]).toEqual([true, [{ tokenAddress: JUNK, reason: 'BAIT' }]]);
  expect([chosen().visible, chosen().hiddenReason]).toEqual([false, null]);
});

test('a token that is listed again after it was removed is judged again', async () => {
  const { receives, compares } = newScene();
  await compares([meme]);
  await compares([]);
  const record = await receives(MEME);
  await compares([]);
  expect(record().visible).toBe(false);
  await compares([meme]);
  expect(record().visible).toBe(true);
});

test('one comparison judges a batch, the newest first, and the next one follows in a minute', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { receives, compares, storage } = newScene();
  const records: Awaited<ReturnType<typeof receives>>[] = [];
  for (let i = 0; i < 2; i++) {
    vi.setSystemTime(NOON_MS + i * 24 * 60 * 60 * 1000);
    for (let j = 0; j < 130; j++) records.push(await receives(MEME));
  }
  const nowMs = Date.now();
  await compares([meme]);
  const shown = () => records.filter((record) => record().visible).length;
  expect([shown(), storage.balances.nextDueAtMs()]).toEqual([200, nowMs + 60_000]);
  // Records of one moment have no order among each other.
  expect(records.slice(130).every((record) => record().visible)).toBe(true);
  await compares([meme]);
  expect(shown()).toBe(260);
});

test('a damaged record does not keep the others from being judged', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { receives, compares, damage } = newScene();
  const [sound, damaged] = [await receives(MEME), await receives(MEME)];
  damage(damaged().id);
  await compares([meme]);
  expect([sound().visible, logged.mock.calls.length]).toEqual([true, 1]);
});
