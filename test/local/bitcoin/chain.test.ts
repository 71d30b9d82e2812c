import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { RawTx, Transaction } from '@scure/btc-signer';
import { afterAll, expect, test } from 'vitest';
import { addressOfPublicKey, scriptOf } from '#chains/bitcoin/rules/address.ts';
import { LocalBitcoinChain } from '#local/bitcoin/chain.ts';
import { taprootSighash } from '#local/bitcoin/taproot-sighash.ts';
import { BTC, regtest, stranger } from '../../chains/bitcoin/cast.ts';
import { present } from '../../chains/evm/cast.ts';
import { party } from '../../mpc/dealt-key.ts';
import { dealt, signedNow } from '../../mpc/frost/signing-room.ts';

const folder = await mkdtemp(join(tmpdir(), 'conclave-regtest-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const room = dealt('frost-secp256k1-tr', 3, 2);
const own = addressOfPublicKey(regtest, room.key.publicKey);

function signedBy(key: typeof room, message: Uint8Array): Uint8Array {
  return signedNow(key, { message, signers: [party(1), party(2)] });
}
const script = (address: string) => present(scriptOf(regtest, address));

interface Options {
  /** The value of the UTXO. */
  readonly of?: bigint;
  readonly to?: string;
  readonly amount?: bigint;
  readonly sequence?: number;
  readonly by?: (sighash: Uint8Array) => Uint8Array;
}

/** Spends one UTXO of the test's own key, as a single-key wallet does. */
function spend(
  txid: string,
  { of = BTC, to = stranger(), amount = BTC - 1_000n, sequence = 0xfffffffd, by }: Options = {},
): string {
  const utxos = [{ script: script(own), amount: of }];
  const transaction = new Transaction({ version: 2 });
  transaction.addInput({ txid: hexToBytes(txid), index: 0, sequence, witnessUtxo: present(utxos[0]) });
  transaction.addOutput({ script: script(to), amount });
  const sighash = taprootSighash(RawTx.decode(Uint8Array.from(transaction.unsignedTx)), 0, utxos);
  const signature = by === undefined ? signedBy(room, sighash) : by(sighash);
  transaction.updateInput(0, { finalScriptWitness: [signature] }, true);
  return bytesToHex(Uint8Array.from(transaction.extract()));
}

const words = (act: () => unknown) => {
  try {
    act();
    return 'taken';
  } catch (error) {
    return error instanceof Error ? error.message : 'thrown';
  }
};

test('a transaction with a valid signature is accepted once, and mined', () => {
  const chain = new LocalBitcoinChain();
  const raw = spend(chain.fund(own, BTC));
  const hash = chain.send(raw);
  expect(words(() => chain.send(raw))).toBe('txn-already-in-mempool');
  chain.mine();
  expect(words(() => chain.send(raw))).toBe('Transaction already in block chain');
  expect([chain.heightOf(hash), chain.balance(own)]).toEqual([2, 0n]);
});

test.each<[string, Options, string]>([
  ['no right signature', { by: () => randomBytes(64) }, 'mandatory-script-verify-flag-failed'],
  ['a signature of 65 bytes', { by: (hash) => Uint8Array.of(...signedBy(room, hash), 1) }, 'mandatory-script'],
  [
    'a signature by another key',
    { by: (hash) => signedBy(dealt('frost-secp256k1-tr', 3, 2), hash) },
    'mandatory-script',
  ],
  ['nothing for the miner', { amount: BTC }, 'min relay fee not met'],
  ['dust', { amount: 329n }, 'dust'],
])('a transaction with %s is refused, as by Bitcoin Core', (_name, options, refusal) => {
  const chain = new LocalBitcoinChain();
  const txid = chain.fund(own, BTC);
  expect(words(() => chain.send(spend(txid, options)))).toContain(refusal);
  expect(chain.waiting()).toEqual([]);
});

test('a UTXO is spent once: a higher fee replaces its spender in the mempool, and nothing replaces a mined spender', () => {
  const chain = new LocalBitcoinChain();
  const txid = chain.fund(own, BTC);
  const first = chain.send(spend(txid));
  expect(words(() => chain.send(spend(txid, { amount: BTC - 1_050n })))).toContain('insufficient fee');
  const second = chain.send(spend(txid, { amount: BTC - 1_200n, sequence: 0xffffffff }));
  expect(chain.waiting().map(({ hash }) => hash)).toEqual([second]);
  expect(words(() => chain.send(spend(txid, { amount: BTC - 9_000n })))).toBe('txn-mempool-conflict');
  chain.mine();
  expect(words(() => chain.send(spend(txid, { amount: BTC - 9_000n })))).toBe('bad-txns-inputs-missingorspent');
  expect(chain.find(first)).toBeNull();
});

test('the chain continues after a restart, and a reorganisation removes the transactions of its blocks', () => {
  const chain = new LocalBitcoinChain();
  const txid = chain.fund(own, BTC);
  const raw = spend(txid);
  const hash = chain.send(raw);
  chain.mine(2);
  chain.save(folder);
  const after = new LocalBitcoinChain(folder);
  expect([after.height, after.heightOf(hash), after.balance(own)]).toEqual([3, 2, 0n]);
  after.reorganise(2);
  expect([after.height, after.heightOf(hash), after.balance(own)]).toEqual([4, null, BTC]);
  expect(after.send(raw)).toBe(hash);
});

test('a block includes the mempool transactions that its miner selects, and no child before its parent', () => {
  const chain = new LocalBitcoinChain();
  const parent = chain.send(spend(chain.fund(own, BTC), { amount: BTC - 5_000n, to: own }));
  const child = chain.send(spend(parent, { of: BTC - 5_000n, amount: BTC - 9_000n }));
  const other = chain.send(spend(chain.fund(own, BTC)));
  chain.mine(1, ({ hash }) => hash === child || hash === other);
  expect(chain.since(2)).toEqual([other]);
  expect(chain.waiting().map(({ hash }) => hash)).toEqual([parent, child]);
  chain.mine(2);
  expect(chain.since(3)).toEqual([parent, child]);
});

test('a transaction of a removed block returns to the mempool if it was kept, and is dropped if an input is missing', () => {
  const chain = new LocalBitcoinChain();
  const parent = chain.send(spend(chain.fund(own, BTC), { amount: BTC - 5_000n, to: own }));
  const child = chain.send(spend(parent, { of: BTC - 5_000n, amount: BTC - 9_000n }));
  chain.mine();
  chain.undo(1, () => true);
  expect([chain.height, chain.waiting().map(({ hash }) => hash)]).toEqual([1, [parent, child]]);
  chain.mine();
  chain.undo(1, ({ hash }) => hash === child);
  expect([chain.find(parent), chain.find(child)]).toEqual([null, null]);
});

test('an RPC node that drops a transaction also drops the transactions that spend it', () => {
  const chain = new LocalBitcoinChain();
  const parent = chain.send(spend(chain.fund(own, BTC), { amount: BTC - 5_000n, to: own }));
  chain.send(spend(parent, { of: BTC - 5_000n, amount: BTC - 9_000n }));
  const other = chain.send(spend(chain.fund(own, BTC)));
  chain.forget(parent);
  expect(chain.waiting().map(({ hash }) => hash)).toEqual([other]);
});

test('on an RPC node that lags, the transactions of the newest blocks are still in the mempool', () => {
  const chain = new LocalBitcoinChain();
  const hash = chain.send(spend(chain.fund(own, BTC)));
  chain.mine();
  const then = chain.before(1);
  expect([then.height, then.heightOf(hash), then.balance(own)]).toEqual([1, null, BTC]);
  expect(then.waiting().map((one) => one.hash)).toEqual([hash]);
  then.mine();
  expect([chain.height, then.height]).toEqual([2, 2]);
  expect(chain.blockHash(2)).not.toBe(then.blockHash(2));
});
