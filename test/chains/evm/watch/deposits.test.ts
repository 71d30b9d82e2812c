import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { viewFor } from '#domain/activity/activity.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import { anvilChain } from '../local-chain.ts';
import withCall from './field/deposit-with-call.json' with { type: 'json' };
import toItself from './field/deposit-to-itself.json' with { type: 'json' };
import { showBlockOf } from './one-block-node.ts';

/** Covers transactions that no key signed: a chain makes them, and mints what they pay. */

let node: FalseNode;

beforeAll(async () => {
  node = await startFalseNode('http://127.0.0.1:1/');
});
afterAll(() => node.stop());

const VAULT = getAddress(toItself.vault);
const STRANGER = '0xe79f0ae0a42598b9e5dddc140a48958ed923f58d';
const ETHER = 10n ** 18n;

interface Changes {
  readonly transaction?: object;
  readonly receipt?: object;
}

/** Returns what the wallet has of a deposit: the lines, the net amount, the signer and the fee. */
async function read(deposit: typeof toItself | typeof withCall, { transaction, receipt }: Changes = {}) {
  const mined = {
    transaction: { ...deposit.transaction, ...transaction },
    receipt: { ...deposit.receipt, ...receipt },
    trace: deposit.trace,
  };
  showBlockOf(node, mined);
  const seen = await clientFor(anvilChain(), [node.url]).activity(mined.transaction.hash, null);
  if (!seen.ok) throw new Error(seen.refusal.detail);
  if (seen.value === null) throw new Error('the transaction is in a block');
  const view = viewFor(VAULT, seen.value, anvilChain());
  const { signer, fee, movements } = seen.value;
  const lines = movements.map(({ uid, from, to, amount }) => [uid, from, to, BigInt(amount)]);
  return { lines, signer, fee, view, net: BigInt(view?.changes[0]?.units ?? '0') };
}

test('a deposit of an account for itself is a mint, without a signer or a fee', async () => {
  const seen = await read(toItself);
  expect(seen).toMatchObject({ lines: [['mint', null, VAULT, 2n * ETHER]], signer: null, fee: '0', net: 2n * ETHER });
  expect(seen.view).toMatchObject({ displayType: 'RECEIVED', direction: 'in' });
});

test('a deposit that only calls a contract is booked with what it minted', async () => {
  expect(await read(withCall)).toMatchObject({ lines: [['mint', null, VAULT, ETHER]], signer: null, net: ETHER });
});

test('a deposit whose call fails keeps what it minted, and pays nothing', async () => {
  const failed = { receipt: { status: '0x0' }, transaction: { to: STRANGER } };
  expect(await read(toItself, failed)).toMatchObject({ lines: [['mint', null, VAULT, 2n * ETHER]], net: 2n * ETHER });
  const nothing = { receipt: { status: '0x0' }, transaction: { mint: null } };
  expect(await read(toItself, nothing)).toMatchObject({ lines: [], net: 0n, view: null });
});

test('a deposit for another account is booked for sender and recipient', async () => {
  const sent = await read(toItself, { transaction: { to: STRANGER, value: `0x${(3n * ETHER).toString(16)}` } });
  // The account adds an ether that it held before.
  expect(sent).toMatchObject({ net: -ETHER, view: { direction: 'out' } });
  const received = await read(toItself, { transaction: { from: STRANGER } });
  expect(received).toMatchObject({ net: 2n * ETHER, view: { displayType: 'RECEIVED', direction: 'in' } });
});

test('a deposit of Arbitrum mints its value, and a signed transaction mints nothing', async () => {
  const own = { transaction: { type: '0x64', mint: undefined } };
  expect(await read(toItself, own)).toMatchObject({ lines: [['mint', null, VAULT, 2n * ETHER]], net: 2n * ETHER });
  for (const type of ['0x0', '0x2', '0x4', '0x65', undefined]) {
    const signed = await read(toItself, { transaction: { type, mint: undefined } });
    expect(signed).toMatchObject({ lines: [['top', VAULT, VAULT, 2n * ETHER]], signer: VAULT, net: 0n });
  }
});

test.each(['0x64', '0x68', '0x69', '0x6a', '0x7e', '0x7f'])(
  'a transaction of type %s has no signer and no fee of the account that it names',
  async (type) => {
    const paid = { receipt: { effectiveGasPrice: '0x5' }, transaction: { type, to: STRANGER, mint: '0x0' } };
    expect(await read(toItself, paid)).toMatchObject({ signer: null, fee: '0' });
  },
);

test('an amount that cannot be read is no amount: the node is not used', async () => {
  await expect(read(toItself, { transaction: { mint: 'much' } })).rejects.toThrow('malformed');
});
