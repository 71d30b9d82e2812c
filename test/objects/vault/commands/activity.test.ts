import { afterEach, expect, test, vi } from 'vitest';
import type { Activity, ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import { MAX_UNCONFIRMED } from '#domain/activity/activity.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Price } from '#domain/asset/price.ts';
import { DAILY_LIMITS } from '#domain/activity/daily-limit.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import { knownTransactions, recordActivity } from '#objects/vault/commands/activity.ts';
import { present } from '../../../chains/evm/cast.ts';
import { sentAttempt, transactionIn, UNPRICED } from '../../../domain/cast.ts';
import { BOB, CAROL, newVaultScene, WALLET } from '../vault-scene.ts';

/** Covers transactions that wait to be mined, which their signer can still cancel. */

const BLOCK: ActivityBlock = { number: '7', hash: '0xb7', confirmations: 1, isFinal: false };

const TOKEN = '0x4444444444444444444444444444444444444444';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** More than the dust that is hidden without a price. */
const PAID = 5_000_000_000n;

function paid(hash: string, block: ActivityBlock | null, amount = PAID): ChainTransaction {
  const movement = { uid: 'top', from: BOB, to: WALLET, amount: amountOf(amount) };
  return { hash, signer: BOB, fee: amountOf(1n), block, movements: [{ ...NATIVE, ...movement, kind: 'native' }] };
}

function newScene() {
  const { sql, storage, host } = newVaultScene();
  const documents = () => sql.exec<{ document: string }>('SELECT document FROM activity').toArray();
  return {
    storage,
    isWatched: (id: string) => (storage.transaction(id)?.watchedSinceMs ?? null) !== null,
    reported: (seen: ChainTransaction, byBalances: readonly string[] = []) =>
      recordActivity(host, { chain: 'anvil', hash: seen.hash, seen, valuation: UNPRICED, byBalances }),
    known: (hashes: readonly string[], chain = 'anvil') => knownTransactions(host, { chain, hashes }),
    own: (hash: string) => void sql.exec("INSERT INTO signed (tx_id, attempt, hash) VALUES ('own', 1, ?)", hash),
    /** A poll of a record, without prices; by default the chain does not have it any more. */
    polledAgain: (hash: string, seen: ChainTransaction | null = null) =>
      recordActivity(host, { chain: 'anvil', hash, seen, valuation: null }),
    records: () => documents().map(({ document }) => JSON.parse(document) as Activity),
    units: () => storage.balances.standAt({ chain: 'anvil', ...NATIVE }, '7').recordedUnits,
  };
}

test('a waiting transaction is shown, without notification or balance, until a block has it', async () => {
  const { storage, reported, records, units } = newScene();
  expect(await reported(paid('0xa', null))).toBe('recorded');
  const { id, state } = present(records()[0]);
  expect([state, storage.queuedJob(id, 'notify'), units()]).toEqual(['BROADCAST', null, 0n]);
  expect(storage.queuedJob(id, 'follow')).not.toBeNull();
  expect(await reported(paid('0xa', BLOCK))).toBe('recorded');
  expect([records().length, storage.queuedJob(id, 'notify')?.version, units()]).toEqual([1, 2, PAID]);
});

test('the list of waiting transactions is limited, and a block makes each of them a record', async () => {
  const { reported, records } = newScene();
  for (let i = 0; i < MAX_UNCONFIRMED; i++) expect(await reported(paid(`0x${i}`, null))).toBe('recorded');
  expect(await reported(paid('0xa', null))).toBe('none');
  expect(await reported(paid('0x0', null))).toBe('unchanged');
  expect(records()).toHaveLength(MAX_UNCONFIRMED);
  expect(await reported(paid('0xa', BLOCK))).toBe('recorded');
  expect(await reported(paid('0x0', BLOCK))).toBe('recorded');
  expect(await reported(paid('0xb', null))).toBe('recorded');
});

test('a block that includes a given-up transaction restarts its watch, with a log line', async () => {
  const { storage, isWatched, reported, records } = newScene();
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const hash = present(sentAttempt().signed).hash;
  const ends = { version: 6, state: 'FAILED', stateReason: 'CONFLICTED', attempts: [sentAttempt()] } as const;
  const before = transactionIn('SIGNING');
  storage.insertTransaction(before);
  storage.updateTransaction(before, { ...before, ...ends });
  expect(await reported(paid(hash, null))).toBe('own');
  expect([said.mock.calls, isWatched(before.id)]).toEqual([[], false]);
  expect(await reported(paid(hash, BLOCK))).toBe('own');
  expect(isWatched(before.id)).toBe(true);
  expect(JSON.parse(String(said.mock.lastCall?.[0]))).toEqual({
    event: 'mined-after-failure',
    vaultId: before.vaultId,
    transactionId: before.id,
    hash,
    blockNumber: '7',
    purpose: 'intent',
  });
  // The report is by one RPC node. The record changes only after all RPC nodes have answered.
  expect([records(), storage.transaction(before.id)?.state]).toEqual([[], 'FAILED']);
  // A transaction that failed in its block is already known to be in that block.
  const watched = present(storage.transaction(before.id));
  const reverted = { ...transactionIn('FAILED'), ...ends, version: watched.version + 1, stateReason: 'REVERTED' };
  storage.updateTransaction(watched, reverted);
  await reported(paid(hash, BLOCK));
  expect(said.mock.calls.length).toBe(1);
  said.mockRestore();
});

test('the spam of a wallet and day is limited, payments are not, and the next day records again', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 12) });
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { storage, reported, records } = newScene();
  const actions = () => storage.history.after(0, 1_000).filter(({ action }) => action === 'omit-spam');
  for (let i = 0; i < DAILY_LIMITS.hidden; i++) expect(await reported(poison(`0x${i}`))).toBe('recorded');
  expect(actions()).toHaveLength(0);
  for (let i = 0; i < 3; i++) expect(await reported(poison(`0xa${i}`))).toBe('none');
  expect(records()).toHaveLength(DAILY_LIMITS.hidden);
  expect(actions()).toHaveLength(1);
  expect(logged.mock.calls.filter(([line]) => String(line).includes('spam-omitted'))).toHaveLength(1);
  // A record that exists changes, and a payment is recorded.
  expect(await reported({ ...poison('0x0'), block: { ...BLOCK, isFinal: true } })).toBe('recorded');
  expect(await reported(paid('0xb', BLOCK))).toBe('recorded');
  vi.setSystemTime(Date.UTC(2026, 0, 2));
  expect(await reported(poison('0xa0'))).toBe('recorded');
  expect(records()).toHaveLength(DAILY_LIMITS.hidden + 2);
});

/** A transfer of zero in the name of the wallet. */
function poison(hash: string): ChainTransaction {
  const movement = {
    uid: 'log',
    kind: 'erc20' as const,
    tokenAddress: TOKEN,
    from: WALLET,
    to: BOB,
    amount: amountOf(0n),
  };
  return { hash, signer: BOB, fee: amountOf(1n), block: BLOCK, movements: [{ ...NATIVE, ...movement }] };
}

const FINAL: ActivityBlock = { ...BLOCK, confirmations: 100, isFinal: true };

/**
 * Returns a scene at noon in which payments of one amount have filled a daily limit, and their sum.
 */
async function sceneAtLimit(kind: 'hidden' | 'small', amount: bigint) {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 12) });
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const scene = newScene();
  for (let i = 0; i < DAILY_LIMITS[kind]; i++)
    expect(await scene.reported(paid(`0x${kind}${i}`, FINAL, amount))).toBe('recorded');
  return { ...scene, sum: amount * BigInt(DAILY_LIMITS[kind]) };
}

test.each([
  { kind: 'hidden', amount: 1n },
  { kind: 'small', amount: PAID },
] as const)('above the daily limit of $kind records the ledger alone has a payment, once', async ({ kind, amount }) => {
  const { storage, reported, units, sum } = await sceneAtLimit(kind, amount);
  const { length } = storage.history.after(0, 5_000);
  expect(await reported(paid('0xa', null, amount))).toBe('none');
  for (const hash of ['0xa', '0xb', '0xa']) await reported(paid(hash, BLOCK, amount));
  expect(units()).toBe(sum + 2n * amount);
  const { id, visible } = present(storage.activities.ofHash('anvil', '0xa'));
  const jobs = ['project', 'notify', 'follow'] as const;
  expect(jobs.map((job) => storage.queuedJob(id, job))).toEqual([null, null, null]);
  expect(visible).toBe(kind === 'small');
  // One line says that records are left out, and none has a record.
  const [line, ...others] = storage.history.after(length, 100);
  expect([line?.action, JSON.parse(line?.detail ?? ''), others]).toMatchObject([
    'omit-spam',
    { kind, recorded: DAILY_LIMITS[kind] },
    [],
  ]);
  // Other payments have their records.
  expect(await reported(paid('0xc', BLOCK, 10n ** 18n))).toBe('recorded');
  expect(await reported(paid('0xd', BLOCK, kind === 'small' ? 1n : PAID))).toBe('recorded');
});

test('an omitted payment is polled alone until its block is final, or leaves the ledger with its block', async () => {
  const { storage, reported, polledAgain, units, sum } = await sceneAtLimit('hidden', 1n);
  for (const hash of ['0xa', '0xb']) expect(await reported(paid(hash, BLOCK, 1n))).toBe('omitted');
  const ids = ['0xa', '0xb'].map((hash) => present(storage.activities.ofHash('anvil', hash)).id);
  const polled = () => ids.filter((id) => storage.queuedJob(id, 'follow-omitted') !== null);
  expect(polled()).toEqual([ids[0]]);
  // A chain that does not answer delays no other chain.
  const { activities } = storage;
  activities.putOmitted(
    { ...present(activities.ofHash('anvil', '0xa')), id: transactionIn('DRAFT').id, chain: 'base' },
    7,
  );
  expect([activities.nextOmitted('anvil'), activities.nextOmitted('base')?.dueAtMs]).toEqual([null, 7]);
  // A poll has no valuation: a record that is left out stays so.
  expect(await polledAgain('0xa')).toBe('omitted');
  expect([polled(), units()]).toEqual([[ids[1]], sum + 1n]);
  expect(await polledAgain('0xb', paid('0xb', FINAL, 1n))).toBe('omitted');
  expect([polled(), units(), storage.balances.openLines({ chain: 'anvil', ...NATIVE })]).toEqual([[], sum + 1n, []]);
  // Another block has the first one.
  expect(await reported(paid('0xa', { ...BLOCK, hash: '0xb8' }, 1n))).toBe('omitted');
  expect([polled(), units()]).toEqual([[ids[0]], sum + 2n]);
  expect(storage.requeueProjection(0).records).toBe(DAILY_LIMITS.hidden);
});

test('a scan of a later day gives an omitted payment its record, under the same id and not counted twice', async () => {
  const { storage, reported, polledAgain, units, sum } = await sceneAtLimit('hidden', 1n);
  await reported(paid('0xa', BLOCK, 1n));
  const { id } = present(storage.activities.ofHash('anvil', '0xa'));
  vi.setSystemTime(Date.UTC(2026, 0, 2));
  expect(await polledAgain('0xa', paid('0xa', { ...BLOCK, hash: '0xb8' }, 1n))).toBe('omitted');
  expect(await reported(paid('0xa', FINAL, 1n))).toBe('recorded');
  const record = present(storage.activities.ofHash('anvil', '0xa'));
  expect([record.id, record.isOmitted, record.version]).toEqual([id, undefined, 3]);
  expect([units(), storage.queuedJob(id, 'project')?.version]).toEqual([sum + 1n, 3]);
  expect(storage.queuedJob(id, 'follow-omitted')).toBeNull();
  expect(storage.history.after(0, 5_000).at(-1)).toMatchObject({ transactionId: id, from: null, to: 'SUCCEEDED' });
});

test('a vault knows its records and its own transactions, and no omitted payment or one of another chain', async () => {
  const { reported, known, own } = await sceneAtLimit('hidden', 1n);
  expect(await reported(paid('0xa', BLOCK, 1n))).toBe('omitted');
  expect(await reported(paid('0xb', null))).toBe('recorded');
  own('0xc');
  expect(known(['0xa', '0xb', '0xc', '0xd', '0xhidden0'])).toEqual(['0xb', '0xc', '0xhidden0']);
  expect([known(['0xb', '0xc'], 'base'), known([])]).toEqual([['0xc'], []]);
});

test('junk tokens of an omitted payment are left out of the ledger', async () => {
  const { storage, reported, units, sum } = await sceneAtLimit('hidden', 1n);
  const token = (tokenAddress: string) =>
    ({
      uid: tokenAddress,
      kind: 'erc20',
      tokenAddress,
      tokenId: null,
      from: BOB,
      to: WALLET,
      amount: amountOf(7n),
    }) as const;
  const native = paid('0xa', BLOCK, 1n);
  expect(await reported({ ...native, hash: '0xb', movements: [...native.movements, token(TOKEN)] })).toBe('omitted');
  expect(units()).toBe(sum + 1n);
  expect(storage.activities.ofHash('anvil', '0xb')?.changes).toHaveLength(1);
  expect(await reported({ ...native, hash: '0xc', movements: [token(TOKEN)] })).toBe('none');
});

test('the ledger itself has a limit of payments without a record', async () => {
  const { storage, reported } = await sceneAtLimit('hidden', 1n);
  const day = Math.floor(Date.now() / DAY_MS);
  for (let i = 0; i < DAILY_LIMITS.omitted - 1; i++) storage.activities.countRecord('anvil', 'omitted', day);
  expect([await reported(paid('0xa', BLOCK, 1n)), await reported(paid('0xb', BLOCK, 1n))]).toEqual(['omitted', 'none']);
  const kinds = storage.history
    .after(0, 5_000)
    .flatMap(({ action, detail }) => (action === 'omit-spam' ? [detail] : []));
  expect(kinds.map((detail) => JSON.parse(detail ?? '').kind)).toEqual(['hidden', 'omitted']);
});

test('a payment that is found beside dust is notified, and a record that stays hidden is not', async () => {
  const { storage, reported, records } = newScene();
  await reported(paid('0xa', BLOCK, 1n));
  const { id } = present(records()[0]);
  const notified = () => storage.queuedJob(id, 'notify')?.version;
  expect(notified()).toBe(1);
  const moved = { ...BLOCK, hash: '0xb8' };
  await reported(paid('0xa', moved, 1n));
  expect([records()[0]?.version, notified()]).toEqual([2, 1]);
  await reported(paid('0xa', moved));
  expect([records()[0]?.version, records()[0]?.visible, notified()]).toEqual([3, true, 3]);
});

test('an unpriced token is shown when the address book has its signer, and not when only its log names one', async () => {
  const { storage, host, replaceVault } = newVaultScene();
  const vault = present(host.vault());
  const entry = {
    chain: present(host.chains.find(({ name }) => name === 'anvil')).caip2,
    address: CAROL,
    name: 'Carol',
  };
  const rules = { ...vault.policy.rules, addressBook: [entry] };
  replaceVault({ ...vault, policy: { ...vault.policy, rules } });
  const facts = { symbol: 'LP', decimals: 6, isListed: false, imitates: null, hasPhishingText: false };
  const native = { price: { state: 'unknown' }, decimals: 18 } as const;
  const valuation = { native, tokens: [{ ...facts, address: TOKEN, price: native.price }] };
  const reasonFor = async (hash: string, signer: string) => {
    const { movements, ...seen } = poison(hash);
    const sent = movements.map((one) => ({ ...one, from: CAROL, to: WALLET, amount: amountOf(7n) }));
    await recordActivity(host, { chain: 'anvil', hash, seen: { ...seen, signer, movements: sent }, valuation });
    return present(storage.activities.ofHash('anvil', hash)).hiddenReason;
  };
  expect([await reasonFor('0xa', BOB), await reasonFor('0xb', CAROL)]).toEqual(['UNKNOWN_TOKEN', null]);
  // A contract that the vault has called is known, whichever account signs.
  storage.addCounterparties([TOKEN]);
  expect(await reasonFor('0xc', BOB)).toBeNull();
  // What came so is in the default balances, and is shown when it leaves among many other tokens.
  const movement = (tokenAddress: string, from: string, to: string) =>
    ({ uid: tokenAddress, kind: 'erc20', tokenAddress, tokenId: null, from, to, amount: amountOf(7n) }) as const;
  const junk = Array.from({ length: 101 }, (_, i) => movement(`0x${String(i).padStart(40, '0')}`, BOB, WALLET));
  const theft = { ...poison('0xd'), movements: [...junk, movement(TOKEN, WALLET, BOB)] };
  await recordActivity(host, { chain: 'anvil', hash: '0xd', seen: theft, valuation });
  const { visible, direction, changes } = present(storage.activities.ofHash('anvil', '0xd'));
  expect([visible, direction, changes[0]]).toMatchObject([true, 'out', { tokenAddress: TOKEN, units: '-7' }]);
});

test('a token of a stranger enters the default balances when its price is known, and not before', async () => {
  const { storage, host } = newVaultScene();
  const facts = { symbol: 'LP', decimals: 6, isListed: false, imitates: null, hasPhishingText: false };
  const report = (tokenAddress: string, price: Price) => {
    const { movements, ...seen } = poison(tokenAddress);
    const sent = movements.map((one) => ({ ...one, tokenAddress, from: BOB, to: WALLET, amount: amountOf(10n ** 6n) }));
    const valuation = {
      native: { price: { state: 'unknown' }, decimals: 18 },
      tokens: [{ ...facts, address: tokenAddress, price }],
    } as const;
    const transaction = { ...seen, movements: sent };
    return recordActivity(host, { chain: 'anvil', hash: tokenAddress, seen: transaction, valuation });
  };
  const listed = (tokenAddress: string) => storage.balances.showsToken('anvil', tokenAddress);
  for (const token of [TOKEN, CAROL]) {
    await report(token, { state: 'unavailable' });
    expect([storage.activities.ofHash('anvil', token)?.visible, listed(token)]).toEqual([true, false]);
  }
  await report(TOKEN, { state: 'unknown' });
  await report(CAROL, { state: 'known', usdE12: '1000000000000', atMs: 7 });
  expect([listed(TOKEN), listed(CAROL)]).toEqual([false, true]);
});

test('the balances around a block prove the payments of one of its transactions, and of no other one', async () => {
  const { reported, records, units } = newScene();
  const traced = (hash: string, block: ActivityBlock = BLOCK) => {
    const seen = paid(hash, block);
    return { ...seen, movements: seen.movements.map((one) => ({ ...one, uid: 'trace:0', kind: 'internal' as const })) };
  };
  const byBalances = ['trace:0'];
  expect(await reported(traced('0xa'), byBalances)).toBe('recorded');
  // The same change of the balance would prove it as well.
  expect(await reported(traced('0xb'), byBalances)).toBe('none');
  expect([records().length, units()]).toEqual([1, PAID]);
  expect(await reported(traced('0xa'), byBalances)).toBe('unchanged');
  expect(await reported(traced('0xb', { ...BLOCK, number: '8', hash: '0xb8' }), byBalances)).toBe('recorded');
  // Two RPC nodes state this one.
  expect(await reported(traced('0xc'))).toBe('recorded');
});
