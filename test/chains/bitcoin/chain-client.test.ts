import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { utxosIn } from '#chains/bitcoin/rules/transaction.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { present } from '../evm/cast.ts';
import { clientAt, attemptOf, BTC, bytesOf, localNetwork, message, payment, stranger, units, Wallet } from './cast.ts';
import { bitcoinClient } from '#chains/bitcoin/chain-client.ts';
import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import { holdingsAt, unitsIn } from '../readings.ts';

/** Covers the whole client, against a regtest that verifies every signature by itself. */

let node: BitcoinNode;
let wallet: Wallet;
beforeAll(async () => {
  node = await startBitcoinNode();
});
beforeEach(() => {
  wallet = new Wallet();
  for (const blocks of Object.keys(node.rates)) delete node.rates[blocks];
});
afterAll(() => node.stop());

const client = () => clientAt(node.url);

async function prepared(intent: OnChainIntent, replaced: Attempt | null = null, taken: readonly string[] = []) {
  const quote = await client().quote(intent, replaced, { taken: new Set(taken) });
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  return attemptOf(client().rules.compose(intent, quote.value, 0n), (replaced?.number ?? 0) + 1);
}

async function signed(intent: OnChainIntent, attempt: Attempt) {
  const assembled = client().rules.assemble(intent, attempt, wallet.sign(intent, attempt.payload));
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  return assembled.value;
}

async function sent(intent: OnChainIntent, replaced: Attempt | null = null) {
  const attempt = await prepared(intent, replaced);
  const { raw, hash } = await signed(intent, attempt);
  return {
    attempt: { ...attempt, signed: { raw, hash, atMs: 0 } },
    raw,
    hash,
    verdict: await client().broadcast(raw, hash),
  };
}

const watched = (attempt: Attempt, hashes: readonly string[], inclusion = null) => ({
  from: wallet.address,
  nonce: 0n,
  hashes,
  newest: attempt,
  inclusion,
});

test('a payment of several UTXOs pays exactly, returns its change, and costs the quoted fee', async () => {
  for (const amount of [BTC / 2n, BTC, BTC / 4n]) node.chain.fund(wallet.address, amount);
  const intent = payment(wallet.address, { amount: units(BTC + 1n) });
  const { attempt, hash, verdict } = await sent(intent);
  expect(verdict).toEqual({ outcome: 'accepted' });
  expect(utxosIn(bytesOf(attempt.payload)).map(({ amount }) => amount)).toEqual([BTC / 2n, BTC]);
  const waits = await client().observe(watched(attempt, [hash]));
  expect(waits).toEqual({ ok: true, value: { type: 'absent', inMempool: true, nonceTaken: false } });
  node.chain.mine();
  const found = await client().observe(watched(attempt, [hash]));
  expect(found).toMatchObject({
    value: {
      type: 'included',
      inclusion: {
        hash,
        succeeded: true,
        confirmations: 1,
        finalized: false,
        feePaid: attempt.maxFee,
        movements: [{ from: wallet.address, to: intent.to, amount: intent.amount }],
        changes: [{ units: `-${intent.amount}` }],
      },
    },
  });
  const taken = present(node.chain.find(hash));
  expect(taken.fee).toBe(BigInt(attempt.maxFee));
  // The fee is one satoshi per virtual byte, rounded up, because the size was estimated to the
  // byte.
  expect(taken.fee).toBe(taken.virtualSize);
  node.chain.mine(5);
  expect(await client().observe(watched(attempt, [hash]))).toMatchObject({
    value: { inclusion: { confirmations: 6, finalized: true } },
  });
  const held = await client().holdings(wallet.address, [{ kind: 'native', tokenAddress: null, tokenId: null }], false);
  expect(held.ok && unitsIn(held.value)).toEqual([(BTC / 2n + BTC / 4n - 1n - taken.fee).toString()]);
});

test('the holdings of a wallet are reported as of the newest block beyond reorganisations, by one server or by two', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  node.chain.mine(5);
  const { hash } = await sent(payment(wallet.address));
  node.chain.mine();
  for (let i = 0; i < 30; i++) node.chain.fund(stranger(), 1_000n);
  node.chain.reorganise(29);
  const own = [{ kind: 'native', tokenAddress: null, tokenId: null }] as const;
  for (const requiresProof of [false, true]) {
    const held = await clientAt(node.url, node.url).holdings(wallet.address, own, requiresProof);
    const kept = 2n * BTC - present(node.chain.find(hash)).fee;
    expect(held).toEqual({ ok: true, value: holdingsAt(node.chain.height - 5, [kept]) });
  }
  // Later payments are subtracted from the holdings, however many pages of history they fill, and
  // the inputs of a later payment are added back.
  for (let i = 0; i < 4; i++) node.chain.fund(wallet.address, 1_000n);
  const before = await client().holdings(wallet.address, own, false);
  expect(before.ok && unitsIn(before.value)).toEqual([String(2n * BTC - present(node.chain.find(hash)).fee)]);
  await sent(payment(wallet.address));
  node.chain.mine();
  const after = await client().holdings(wallet.address, own, false);
  expect(after.ok && unitsIn(after.value)).toEqual(before.ok && unitsIn(before.value));
});

test('a remainder that is too small to relay is paid to the miner as fee', async () => {
  node.chain.fund(wallet.address, BTC);
  const { attempt, hash, verdict } = await sent(payment(wallet.address, { amount: units(BTC - 400n) }));
  expect([verdict.outcome, attempt.maxFee]).toEqual(['accepted', '400']);
  expect(node.chain.find(hash)?.outputs).toHaveLength(1);
});

test.each([
  ['less than nodes relay', 329n, 'RECIPIENT_REFUSED'],
  ['more than there is', 2n * BTC, 'INSUFFICIENT_FUNDS'],
  ['all that there is, with nothing for the fee', BTC, 'INSUFFICIENT_FUNDS'],
])('a payment of %s is refused before anything is signed', async (_name, amount, reason) => {
  node.chain.fund(wallet.address, BTC);
  const quote = await client().quote(payment(wallet.address, { amount: units(amount) }), null);
  expect(quote).toMatchObject({ ok: false, refusal: { kind: 'permanent', reason } });
});

test("a simulation reports a payment's outcome or why it would fail, and reports nothing while its UTXOs are claimed", async () => {
  const simulated = (intent: OnChainIntent) => client().simulate(intent);
  expect(await simulated(payment(wallet.address))).toMatchObject({ ok: true, value: { outcome: 'fails' } });
  node.chain.fund(wallet.address, 3n * BTC);
  const intent = payment(wallet.address);
  if (intent.kind !== 'transfer') throw new Error('a payment is a transfer');
  const { from, to, amount } = intent;
  expect(await simulated(intent)).toEqual({
    ok: true,
    value: {
      outcome: 'succeeds',
      movements: [{ uid: 'top', kind: 'native', from, to, tokenAddress: null, tokenId: null, amount }],
      allowances: [],
    },
  });
  await sent(intent);
  expect(await simulated(payment(wallet.address))).toMatchObject({ ok: false });
});

test("a fee above the approved cap is refused, however high the network's fees are", async () => {
  node.chain.fund(wallet.address, 2n * BTC);
  node.rates['3'] = 1_500.5;
  const quote = await client().quote(payment(wallet.address), null);
  expect(quote).toMatchObject({ ok: false, refusal: { kind: 'permanent', reason: 'FEE_CAP_EXCEEDED' } });
});

test('UTXOs that other payments claim are not used, and a wallet with only claimed UTXOs is busy', async () => {
  node.chain.fund(wallet.address, 2n * BTC);
  node.chain.fund(wallet.address, 3n * BTC);
  const intent = payment(wallet.address);
  const first = await client().quote(intent, null);
  const [dearest = ''] = first.ok ? (first.value.utxos ?? []) : [];
  const second = await client().quote(intent, null, { taken: new Set([dearest]) });
  const [other = ''] = second.ok ? (second.value.utxos ?? []) : [];
  expect(other).not.toBe(dearest);
  expect(await client().quote(intent, null, { taken: new Set([dearest, other]) })).toEqual({
    ok: false,
    refusal: { kind: 'busy' },
  });
  const tooMuch = payment(wallet.address, { amount: units(6n * BTC) });
  expect(await client().quote(tooMuch, null, { taken: new Set([dearest, other]) })).toMatchObject({
    refusal: { reason: 'INSUFFICIENT_FUNDS' },
  });
});

test('change and deposits that wait for a block are not spendable yet', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  await sent(payment(wallet.address));
  expect(await client().quote(payment(wallet.address), null)).toEqual({ ok: false, refusal: { kind: 'busy' } });
  node.chain.mine();
  expect((await client().quote(payment(wallet.address), null)).ok).toBe(true);
});

test('a replacement spends the same UTXOs, pays the higher fee that RPC nodes require, and replaces the first attempt', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  node.chain.fund(wallet.address, 4n * BTC);
  const intent = payment(wallet.address);
  const first = await sent(intent);
  const second = await sent(intent, first.attempt);
  expect(second.verdict).toEqual({ outcome: 'accepted' });
  expect(BigInt(second.attempt.maxFee)).toBe(2n * BigInt(first.attempt.maxFee));
  expect(utxosIn(bytesOf(second.attempt.payload))).toEqual(utxosIn(bytesOf(first.attempt.payload)));
  expect(node.chain.waiting().map(({ hash }) => hash)).toEqual([second.hash]);
  // Sends the first transaction again: it is underpriced before the replacement is mined, and a
  // conflict afterwards.
  expect((await client().broadcast(first.raw, first.hash)).outcome).toBe('underpriced');
  node.chain.mine();
  expect((await client().broadcast(first.raw, first.hash)).outcome).toBe('conflicted');
  expect((await client().broadcast(second.raw, second.hash)).outcome).toBe('accepted');
});

test('a replacement whose change cannot pay for it adds another UTXO after the first', async () => {
  node.chain.fund(wallet.address, BTC + 600n);
  node.chain.fund(wallet.address, 50_000n);
  const intent = payment(wallet.address);
  const first = await sent(intent);
  const [kept] = utxosIn(bytesOf(first.attempt.payload));
  node.rates['3'] = 20;
  const second = await sent(intent, first.attempt);
  expect(second.verdict).toEqual({ outcome: 'accepted' });
  expect(utxosIn(bytesOf(second.attempt.payload))).toHaveLength(2);
  expect(utxosIn(bytesOf(second.attempt.payload))[0]).toEqual(kept);
});

test('each speed is quoted at the fee of its estimate', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  Object.assign(node.rates, { '1': 40, '3': 20, '12': 10 });
  const intent = payment(wallet.address);
  const estimated = await client().estimate(intent);
  if (!estimated.ok) throw new Error('no estimate');
  const fees: unknown[] = [];
  for (const speed of ['slow', 'normal', 'fast'] as const) {
    const quote = await client().quote(intent, null, { speed });
    fees.push(quote.ok ? quote.value.maxFee : quote.refusal);
  }
  const { slow, normal, fast } = estimated.value;
  expect(fees).toEqual([slow.maxFee, normal.maxFee, fast.maxFee]);
  expect(new Set(fees).size).toBe(3);
});

test('a cancellation returns the whole amount to the wallet except the fee', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  const intent = payment(wallet.address);
  const first = await sent(intent);
  const undone = actionOfAttempt(intent, 'cancellation');
  const second = await sent(undone, first.attempt);
  expect(second.verdict).toEqual({ outcome: 'accepted' });
  node.chain.mine();
  expect(node.chain.find(second.hash)?.outputs.map(({ amount }) => amount)).toEqual([
    3n * BTC - BigInt(second.attempt.maxFee),
  ]);
  const found = await client().observe(watched(second.attempt, [first.hash, second.hash]));
  expect(found).toMatchObject({ value: { type: 'included', inclusion: { hash: second.hash, movementCount: 0 } } });
});

test('a foreign transaction that spent a UTXO is reported only when no reorganisation can undo it', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  const intent = payment(wallet.address);
  const lost = await prepared(intent);
  const { hash } = await signed(intent, lost);
  await sent(payment(wallet.address));
  const observation = async () => await client().observe(watched(lost, [hash]));
  expect(await observation()).toMatchObject({ value: { type: 'absent', inMempool: false, nonceTaken: false } });
  node.chain.mine(5);
  expect(await observation()).toMatchObject({ value: { nonceTaken: false } });
  node.chain.mine();
  expect(await observation()).toMatchObject({ value: { nonceTaken: true } });
});

test('a payment in a block that was reorganised is observed as absent, and its bytes are sent again', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  const { attempt, hash, raw } = await sent(payment(wallet.address));
  node.chain.mine();
  const found = await client().observe(watched(attempt, [hash]));
  const inclusion = found.ok && found.value.type === 'included' ? found.value.inclusion : null;
  node.chain.reorganise(1);
  const gone = await client().observe({ ...watched(attempt, [hash]), inclusion });
  expect(gone).toMatchObject({ value: { type: 'absent', inMempool: false, nonceTaken: false } });
  // A server with fewer blocks than the recorded one cannot prove the reorganisation.
  const ahead =
    inclusion === null ? null : { ...inclusion, blockNumber: (BigInt(inclusion.blockNumber) + 3n).toString() };
  expect(await client().observe({ ...watched(attempt, [hash]), inclusion: ahead })).toMatchObject({ ok: false });
  expect(await client().broadcast(raw, hash)).toEqual({ outcome: 'accepted' });
});

test('signatures that are not by the wallet over each UTXO do not assemble into a transaction', async () => {
  for (const amount of [BTC, BTC]) node.chain.fund(wallet.address, amount);
  const intent = payment(wallet.address, { amount: units(BTC + 1n) });
  const attempt = await prepared(intent);
  const [first, second] = wallet.sign(intent, attempt.payload);
  const strange = new Wallet().sign(intent, attempt.payload);
  const words = (signatures: readonly { readonly bytes: Uint8Array }[]) => {
    const assembled = client().rules.assemble(intent, attempt, signatures);
    return assembled.ok ? 'assembled' : assembled.refusal.detail;
  };
  expect(words([present(first), present(second)])).toBe('assembled');
  expect(words([present(second), present(first)])).toBe('signed by another wallet');
  expect(words(strange)).toBe('signed by another wallet');
  expect(words([present(first)])).toBe('each UTXO requires one signature');
});

test('each of the three speeds costs at least as much as the slower one, whatever a server reports', async () => {
  node.chain.fund(wallet.address, 2n * BTC);
  Object.assign(node.rates, { '1': 10.5, '3': 12, '12': 2, '144': 1 });
  const estimated = await client().estimate(payment(wallet.address));
  expect(estimated).toMatchObject({
    ok: true,
    value: {
      virtualSize: '154',
      slow: { feeRate: '2000', expectedFee: '308', maxFee: '308' },
      normal: { feeRate: '12000', expectedFee: '1848' },
      fast: { feeRate: '18000', expectedFee: '2772' },
    },
  });
});

test('an incoming payment is read with its payer, and a scan finds it without a report', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  const to = stranger();
  const { hash } = await sent(payment(wallet.address, { to }));
  const paid = [{ uid: 'out:0', kind: 'native', from: wallet.address, to, amount: BTC.toString() }];
  const waiting = { hash, signer: wallet.address, fee: '154', block: null, movements: paid };
  expect(await client().activity(hash, null)).toMatchObject({ value: waiting });
  // The payment was in a block before. That it waits again means that the block was reorganised.
  const lost = { number: '1', hash: 'ab'.repeat(32), confirmations: 1, isFinal: false };
  expect(await client().activity(hash, lost)).toEqual({ ok: true, value: null });
  node.chain.mine();
  expect(await client().activity(hash, null)).toMatchObject({
    value: {
      hash,
      signer: wallet.address,
      block: { confirmations: 1, isFinal: false },
      movements: paid,
    },
  });
  const scan = await client().scan(to, null);
  expect(scan.ok && scan.value.hashes).toEqual([hash]);
  const since = await client().scan(to, String(node.chain.height));
  expect(since.ok && since.value.hashes).toEqual([]);
});

test("a wallet's history of several pages is read to its beginning", async () => {
  const hashes = Array.from({ length: 60 }, () => node.chain.fund(wallet.address, 1_000n));
  const scan = await client().scan(wallet.address, String(node.chain.height - 60));
  expect(scan.ok && new Set(scan.value.hashes)).toEqual(new Set(hashes));
});

test('a payment that one server does not list is found at another one, in whatever order they are configured', async () => {
  const hash = node.chain.fund(wallet.address, BTC);
  const since = String(node.chain.height - 1);
  const forgetful = createServer((request, response) => {
    const isList = request.url?.includes('/txs/chain') === true;
    const body = isList ? Promise.resolve('[]') : fetch(`${node.url}${request.url}`).then((answer) => answer.text());
    void body.then((text) => response.writeHead(200).end(text));
  });
  await new Promise<void>((resolve) => forgetful.listen(0, '127.0.0.1', resolve));
  const bound = forgetful.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  const url = `http://127.0.0.1:${bound.port}`;
  for (const urls of [
    [url, node.url],
    [node.url, url],
  ]) {
    const scan = await clientAt(...urls).scan(wallet.address, since);
    expect(scan).toMatchObject({
      ok: true,
      value: { hashes: [hash], payments: { toBlock: String(node.chain.height) } },
    });
  }
  const alone = await clientAt(url).scan(wallet.address, since);
  expect(alone.ok && alone.value.hashes).toEqual([]);
  forgetful.closeAllConnections();
  forgetful.close();
});

test('a server of another network is refused, and the client reports a refusal without a server', async () => {
  const elsewhere = bitcoinClient(bitcoinRules(localNetwork({ caip2: 'bip122:000000000019d6689c085ae165831e93' })), [
    node.url,
  ]);
  expect(await elsewhere.quote(payment(wallet.address), null)).toMatchObject({
    refusal: {
      kind: 'transient',
      detail: expect.stringContaining('The RPC node serves the network with genesis 0f9188f1'),
    },
  });
  expect((await clientAt().quote(payment(wallet.address), null)).ok).toBe(false);
});

test("a BIP-322 message is signed as other wallets do, and only by the wallet's own key", () => {
  const intent = message(wallet.address, 'Sign in to example.com');
  const { payload } = client().rules.composeMessage(intent);
  const [signature] = wallet.sign(intent, payload);
  const given = client().rules.assembleMessage(intent, present(signature));
  const text = given.ok ? given.value : '';
  expect([text.slice(0, 3), ...Buffer.from(text.slice(3), 'base64').subarray(0, 2)]).toEqual(['smp', 1, 64]);
  expect(client().rules.assembleMessage({ ...intent, message: 'Sign in to example.org' }, present(signature)).ok).toBe(
    false,
  );
  const [strange] = new Wallet().sign(intent, payload);
  expect(client().rules.assembleMessage(intent, present(strange)).ok).toBe(false);
});
