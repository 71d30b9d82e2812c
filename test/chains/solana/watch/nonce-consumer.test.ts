import { expect, test } from 'vitest';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { Rule } from '../../false-node.ts';
import { clientAt, attemptOf, payment, units, Wallet } from '../cast.ts';
import { startLyingNode } from '../lying-node.ts';

/**
 * Covers the transaction that used a durable nonce: RPC nodes know the nonce account, but not which
 * transaction advanced it.
 */

const { node, liar, lying } = await startLyingNode();

const SOL = 1_000_000_000n;
const UNEXPLAINED = { ok: true, value: { type: 'absent', inMempool: false, nonceTaken: false, isUnexplained: true } };
const TAKEN = {
  ok: true,
  value: { type: 'absent', inMempool: false, nonceTaken: true, takenBy: [expect.any(String)] },
};

function funded(): Wallet {
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, 100n * SOL);
  return wallet;
}

interface Signed {
  readonly attempt: Attempt;
  readonly raw: string;
  readonly hash: string;
}

async function signed(
  wallet: Wallet,
  intent: OnChainIntent,
  replaced: Attempt | null = null,
  nonce = 0n,
): Promise<Signed> {
  const client = clientAt(node.url);
  const quote = await client.quote(intent, replaced);
  const anchor = await client.anchor({ from: wallet.address, nonce, replaced });
  if (!quote.ok || !anchor.ok) throw new Error('the real node is fine');
  const attempt = attemptOf(client.rules.compose(intent, quote.value, anchor.value), (replaced?.number ?? 0) + 1);
  const assembled = client.rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  return { attempt, ...assembled.value };
}

async function carriedOut(one: Signed): Promise<Signed> {
  expect(await clientAt(node.url).broadcast(one.raw, one.hash)).toEqual({ outcome: 'accepted' });
  return one;
}

const paid = async (wallet: Wallet) => carriedOut(await signed(wallet, payment(wallet.address)));

function watched(wallet: Wallet, one: Signed): WatchedAttempts {
  return { from: wallet.address, nonce: 0n, hashes: [one.hash], newest: one.attempt, inclusion: null };
}

/**
 * Makes the RPC node lose the status of every transaction, and answer other methods by these rules.
 */
function forgetful(rules: (method: string, params: readonly unknown[]) => Rule = () => 'forward'): void {
  liar.follow((method, params) => {
    if (method !== 'getSignatureStatuses') return rules(method, params);
    const slot = Number.parseInt(node.chain.slot.toString(), 10);
    return { result: { context: { slot }, value: [null] } };
  });
}

const without = (...methods: readonly string[]) =>
  forgetful((method) => (methods.includes(method) ? { result: method === 'getTransaction' ? null : [] } : 'forward'));

test('a payment whose status an RPC node has lost is found among the transactions that name its nonce account', async () => {
  const wallet = funded();
  const opening = await paid(wallet);
  const later = await paid(wallet);
  node.chain.advance(400n);
  forgetful();
  for (const one of [opening, later]) {
    const included = { type: 'included', inclusion: { hash: one.hash, succeeded: true, finalized: true } };
    expect(await lying().observe(watched(wallet, one))).toMatchObject({ ok: true, value: included });
  }
});

test('a payment that one RPC node cannot show is not ended, and a second RPC node that shows it is believed', async () => {
  const wallet = funded();
  for (const one of [await paid(wallet), await paid(wallet)]) {
    node.chain.advance(400n);
    for (const missing of ['getTransaction', 'getSignaturesForAddress']) {
      without(missing);
      expect(await lying().observe(watched(wallet, one))).toEqual(UNEXPLAINED);
      const both = await clientAt(liar.url, node.url).observe(watched(wallet, one));
      const inclusion = { hash: one.hash, succeeded: true };
      expect(both).toMatchObject({ ok: true, value: { type: 'included', inclusion } });
    }
  }
});

test('a payment that failed on the chain is found as failed', async () => {
  const wallet = funded();
  await paid(wallet);
  const poor = await signed(wallet, payment(wallet.address, { amount: units(60n * SOL) }));
  await carriedOut(await signed(wallet, payment(wallet.address, { amount: units(60n * SOL) }), null, 1n));
  await carriedOut(poor);
  forgetful();
  const failed = { type: 'included', inclusion: { hash: poor.hash, succeeded: false } };
  expect(await lying().observe(watched(wallet, poor))).toMatchObject({ ok: true, value: failed });
});

test('a foreign transaction that used the nonce is found by its own bytes, once it is beyond every fork', async () => {
  const wallet = funded();
  await paid(wallet);
  const intent = payment(wallet.address);
  const unsent = await signed(wallet, intent);
  const other = await carriedOut(await signed(wallet, actionOfAttempt(intent, 'cancellation'), unsent.attempt));
  // Later transactions name the same account, and use other values of the nonce.
  await paid(wallet);
  forgetful();
  expect(await lying().observe(watched(wallet, unsent))).toEqual(TAKEN);
  // The RPC node has lost the transaction that used the nonce, and has later ones.
  forgetful((method, params) =>
    method === 'getTransaction' && params[0] === other.hash ? { result: null } : 'forward',
  );
  expect(await lying().observe(watched(wallet, unsent))).toEqual(UNEXPLAINED);
});

test('a foreign opening is found by the account that was empty before it, and not by a later use of the nonce', async () => {
  const wallet = funded();
  const unsent = await signed(wallet, payment(wallet.address));
  const other = await paid(wallet);
  const later = await paid(wallet);
  forgetful();
  expect(await lying().observe(watched(wallet, unsent))).toEqual(TAKEN);
  forgetful((method) =>
    method === 'getSignaturesForAddress'
      ? { result: [{ signature: later.hash, slot: 900_000, err: null }] }
      : 'forward',
  );
  expect(await lying().observe(watched(wallet, unsent))).toEqual(UNEXPLAINED);
  // A failed transaction has not opened the account.
  forgetful((method) =>
    method === 'getSignaturesForAddress'
      ? { result: [{ signature: other.hash, slot: 900_000, err: { InstructionError: [0, 'x'] } }] }
      : 'forward',
  );
  expect(await lying().observe(watched(wallet, unsent))).toEqual(UNEXPLAINED);
});

test('foreign transactions that merely name the nonce account are skipped', async () => {
  const wallet = funded();
  await paid(wallet);
  const intent = payment(wallet.address);
  const unsent = await signed(wallet, intent);
  const other = await carriedOut(await signed(wallet, actionOfAttempt(intent, 'cancellation'), unsent.attempt));
  const strangers = Array.from({ length: 19 }, () => node.chain.airdrop(new Wallet().address, SOL).hash);
  const slot = Number.parseInt(unsent.attempt.anchoredAt ?? '', 10) + 1;
  const named = (hashes: readonly string[]) =>
    forgetful((method) =>
      method === 'getSignaturesForAddress'
        ? { result: [other.hash, ...hashes].map((signature) => ({ signature, slot, err: null })) }
        : 'forward',
    );
  named(strangers);
  expect(await lying().observe(watched(wallet, unsent))).toEqual(TAKEN);
  // The search ends after a maximum number of transactions.
  named([...strangers, node.chain.airdrop(new Wallet().address, SOL).hash]);
  expect(await lying().observe(watched(wallet, unsent))).toEqual(UNEXPLAINED);
});
