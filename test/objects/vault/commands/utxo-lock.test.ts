import { expect, test } from 'vitest';
import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import { recordEvent } from '#objects/vault/commands/transaction.ts';
import { lockedUtxos, lockUtxo, unlockUtxo, utxoWallet } from '#objects/vault/commands/utxo-lock.ts';
import { VaultStorage } from '#objects/vault/storage.ts';
import { MAX_UTXO_LOCKS } from '#domain/wallet/utxo-lock.ts';
import { localNetwork, payment, stranger, units } from '../../../chains/bitcoin/cast.ts';
import { present } from '../../../chains/evm/cast.ts';
import { alice, mallory, transactionIn } from '../../../domain/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/** Covers the locks of UTXOs in a vault: who sets them, what they refuse, and what they survive. */

const chain = 'bitcoin-regtest';
const name = (digit: number) => `${digit.toString(16).padStart(64, '0')}:0`;

function scene() {
  const { host, sql, storage, replaceVault } = newVaultScene();
  const own = stranger();
  const vault = present(host.vault());
  const keys = vault.keys.map((key) => ({ ...key, addresses: { ...key.addresses, [chain]: own } }));
  const chains = [...vault.configuration.chains, chain];
  replaceVault({ ...vault, keys, configuration: { ...vault.configuration, chains } });
  const intent = payment(own, { amount: units(50_000n) });
  const bytesOf = (...numbers: readonly number[]) => {
    const utxos = numbers.map((number) => ({ txid: number.toString(16).padStart(64, '0'), vout: 0, amount: 60_000n }));
    const change = 60_000n * BigInt(numbers.length) - 51_000n;
    return bitcoinRules(localNetwork()).compose(intent, { terms: { utxos, change }, utxos: [] } as never, 0n);
  };
  const paying = transactionIn('SIGNING', { chain, intent, attempts: [] });
  storage.insertTransaction(paying);
  storage.enqueueJob({ transactionId: paying.id, job: 'sign', version: paying.version, dueAtMs: 0, tries: 0 });
  const prepared = (...numbers: readonly number[]) =>
    recordEvent(host, {
      id: paying.id,
      event: { type: 'prepare', attempt: { ...bytesOf(...numbers), purpose: 'intent' } },
    });
  const lines = () => storage.history.after(0, 500).filter(({ action }) => action.endsWith('lock-utxo'));
  return { host, sql, storage, paying, prepared, lines };
}

test('a member locks and unlocks a UTXO once, with one line of the history each, and a new instance reads the lock', async () => {
  const { host, sql, lines } = scene();
  for (let time = 0; time < 2; time++) {
    const locked = await lockUtxo(host, alice, { chain, outpoint: name(1) });
    expect(locked).toMatchObject({ ok: true, value: { outpoint: name(1), lockedBy: alice.userId } });
  }
  expect(new VaultStorage(sql, true).utxoLocks.ofChain(chain).map(({ outpoint }) => outpoint)).toEqual([name(1)]);
  expect(lockedUtxos(host, { chain: 'anvil' })).toEqual([]);
  for (let time = 0; time < 2; time++) await unlockUtxo(host, alice, { chain, outpoint: name(1) });
  expect(lockedUtxos(host, { chain })).toEqual([]);
  expect(lines().map(({ action, actor, detail }) => [action, actor?.userId, detail])).toEqual([
    ['lock-utxo', alice.userId, JSON.stringify({ chain, outpoint: name(1) })],
    ['unlock-utxo', alice.userId, JSON.stringify({ chain, outpoint: name(1) })],
  ]);
});

test('a stranger sets no lock, a chain that the vault does not use has none, and locks are bounded', async () => {
  const { host, lines } = scene();
  const outpoint = name(1);
  expect(await lockUtxo(host, mallory, { chain, outpoint })).toMatchObject({ refusal: { code: 'forbidden' } });
  expect(await unlockUtxo(host, mallory, { chain, outpoint })).toMatchObject({ refusal: { code: 'forbidden' } });
  expect(utxoWallet(host, mallory, { chain })).toMatchObject({ refusal: { code: 'forbidden' } });
  expect(await lockUtxo(host, alice, { chain: 'bitcoin', outpoint })).toMatchObject({
    refusal: { code: 'chain-not-enabled' },
  });
  expect(lines()).toEqual([]);
  for (let i = 1; i <= MAX_UTXO_LOCKS; i++) await lockUtxo(host, alice, { chain, outpoint: name(i) });
  expect(await lockUtxo(host, alice, { chain, outpoint: name(999) })).toEqual({
    ok: false,
    refusal: { code: 'too-many-utxo-locks', limit: MAX_UTXO_LOCKS },
  });
  // A repeated lock is no further one.
  expect((await lockUtxo(host, alice, { chain, outpoint })).ok).toBe(true);
  expect(lines()).toHaveLength(MAX_UTXO_LOCKS);
});

test('bytes that spend a UTXO locked since its selection are not stored, and other bytes are', async () => {
  const { host, storage, paying, prepared } = scene();
  await lockUtxo(host, alice, { chain, outpoint: name(2) });
  expect((await prepared(1, 2))?.attempts).toEqual([]);
  expect(storage.transaction(paying.id)).toEqual(paying);
  expect((await prepared(1))?.attempts).toHaveLength(1);
});

test('a UTXO that the bytes of a payment in flight spend cannot be locked, and the list names the payment', async () => {
  const { host, paying, prepared, lines } = scene();
  await prepared(1);
  expect(await lockUtxo(host, alice, { chain, outpoint: name(1) })).toEqual({
    ok: false,
    refusal: { code: 'utxo-in-flight', transactionId: paying.id },
  });
  expect(lines()).toEqual([]);
  expect(utxoWallet(host, alice, { chain })).toMatchObject({
    ok: true,
    value: { locks: [], spending: [{ outpoint: name(1), transactionId: paying.id }] },
  });
  expect((await lockUtxo(host, alice, { chain, outpoint: name(2) })).ok).toBe(true);
});
