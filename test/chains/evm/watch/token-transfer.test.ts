import type { Address, Hex } from 'viem';
import { encodeFunctionData, erc20Abi, getAddress, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { ChainClient, WatchedAttempts } from '#chains/chain-client.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, request, startLocalChain } from '../local-chain.ts';

/** Covers token payments that the token does not log, on a real chain. */

const MINT = parseAbi(['function mint(address to, uint256 units)']);
const PAID = 1_000_000n;

let chain: LocalChain;
let first: FalseNode;
let second: FalseNode;
let payer = 0;

beforeAll(async () => {
  chain = await startLocalChain();
  first = await startFalseNode(chain.url);
  second = await startFalseNode(chain.url);
});

afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
  await chain.stop();
});

const bob = () => chain.account(8);

/** Returns a wallet without a key, with twice the payment of a token. */
async function walletWith(token: Address): Promise<Address> {
  const address = getAddress(`0x${(0xfee1600 + payer++).toString(16).padStart(40, '0')}`);
  await chain.client.setBalance({ address, value: 10n ** 20n });
  await chain.client.impersonateAccount({ address });
  await mint(token, address);
  return address;
}

async function mint(token: Address, to: Address): Promise<void> {
  const args = [to, 2n * PAID] as const;
  const account = chain.account(9);
  await chain.mined(
    await chain.client.writeContract({ account, address: token, abi: MINT, functionName: 'mint', args }),
  );
}

async function pay(from: Address, token: Address, to = bob()): Promise<WatchedAttempts> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, PAID] });
  const hash = await chain.client.sendTransaction({ account: from, to: token, data, gas: 200_000n });
  await chain.mined(hash);
  return watching(from, { hash, token, to });
}

function watching(from: Address, { hash, token, to }: { hash: Hex; token: Address; to: Address }): WatchedAttempts {
  const tokenPayment = { tokenAddress: token, to, amount: amountOf(PAID), hashes: [hash] };
  return {
    from,
    nonce: 0n,
    hashes: [hash],
    newest: { payload: '0x', validUntil: null },
    inclusion: null,
    tokenPayment,
  };
}

async function inclusionOf(watched: WatchedAttempts, client: ChainClient = chain.chainClient()): Promise<Inclusion> {
  const observed = await client.observe(watched);
  if (!observed.ok) throw new Error(observed.refusal.detail);
  if (observed.value.type !== 'included') throw new Error('it is not included');
  return observed.value.inclusion;
}

/** Returns the nodes that follow two scripts, and forward everything else. */
function twoNodes(one: Parameters<FalseNode['follow']>[0], other: Parameters<FalseNode['follow']>[0]): ChainClient {
  first.follow(one);
  second.follow(other);
  return clientFor(anvilChain(), [first.url, second.url]);
}

const honest = () => 'forward' as const;
/** Returns the same balance of a token for every block, and that it refuses to move. */
const constantBalance = (method: string) =>
  method === 'eth_call' ? { result: `0x${'0'.repeat(64)}` } : ('forward' as const);
const prunedState = (method: string) =>
  method === 'eth_call' ? { error: { code: -32000, message: 'missing trie node' } } : ('forward' as const);

test.each(['BurnMintToken', 'OwnEventToken', 'SilentFeeToken'])(
  '%s: a payment is proven by the balances when no log shows it',
  async (name) => {
    const token = await chain.deploy('OddTokens.sol', name);
    const from = await walletWith(token);
    const found = await inclusionOf(await pay(from, token));
    expect(found).toMatchObject({ succeeded: true, failure: null, tokenTransfer: 'moved' });
    // The wallet's ledger follows the chain, whatever the token logs.
    const sent = { tokenAddress: token, units: `-${PAID}` };
    expect(found.changes).toEqual([expect.objectContaining(sent)]);
    expect(found.movementCount).toBe(1);
  },
);

test('a payment that moved nothing is proven unmoved, and moves nothing in the record', async () => {
  const token = await chain.deploy('OddTokens.sol', 'IdleToken');
  const found = await inclusionOf(await pay(await walletWith(token), token));
  expect(found).toMatchObject({ succeeded: true, failure: null, tokenTransfer: 'unmoved', movements: [] });
});

test('a payment is unproven when the state, or a node, is away, and when it is to the wallet itself', async () => {
  const token = await chain.deploy('OddTokens.sol', 'OwnEventToken');
  const from = await walletWith(token);
  const paid = await pay(from, token);
  const client = clientFor(anvilChain(), [first.url]);
  for (const rule of [{ error: { code: -32000, message: 'missing trie node' } }, { result: '0x' }, 'cut'] as const) {
    first.follow((method) => (method === 'eth_call' ? rule : 'forward'));
    expect(await inclusionOf(paid, client)).toMatchObject({ succeeded: true, tokenTransfer: 'unproven' });
  }
  first.follow(honest);
  expect(await inclusionOf(paid, client)).toMatchObject({ tokenTransfer: 'moved' });
  const itself = await pay(from, token, from);
  expect(await inclusionOf(itself, client)).toMatchObject({ succeeded: true, tokenTransfer: 'unproven' });
});

const SHIFT = parseAbi(['function shift(address from, address to, uint256 units)']);

/** Mines a payment of a token and these movements by others in one block. */
async function payBeside(token: Address, shifts: readonly (readonly [Address, Address])[]): Promise<WatchedAttempts> {
  const from = await walletWith(token);
  await mint(token, chain.account(7));
  await mint(token, bob());
  await chain.client.setAutomine(false);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [bob(), PAID] });
  const hash = await chain.client.sendTransaction({ account: from, to: token, data, gas: 200_000n });
  for (const [sender, to] of shifts.map(
    ([one, other]) => [one === token ? from : one, other === token ? from : other] as const,
  )) {
    const args = [sender, to, PAID] as const;
    const gas = 200_000n;
    await chain.client.writeContract({
      account: chain.account(9),
      address: token,
      abi: SHIFT,
      functionName: 'shift',
      args,
      gas,
    });
  }
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  await chain.mined(hash);
  return watching(from, { hash, token, to: bob() });
}

test('other movements in the block never prove that a payment was made, or was not', async () => {
  const stranger = chain.account(7);
  // In these lists the token stands for the wallet.
  const burns = await chain.deploy('OddTokens.sol', 'BurnOnlyToken');
  // The wallet gets the same amount, and the recipient passes it on: no balance changes.
  const passedOn = await payBeside(burns, [
    [stranger, burns],
    [bob(), stranger],
  ]);
  expect(await inclusionOf(passedOn)).toMatchObject({ succeeded: true, tokenTransfer: 'unproven' });
  const idle = await chain.deploy('OddTokens.sol', 'IdleToken');
  // The token refused. The recipient gets another deposit, or the wallet pays another recipient.
  expect(await inclusionOf(await payBeside(idle, [[stranger, bob()]]))).toMatchObject({ tokenTransfer: 'unproven' });
  expect(await inclusionOf(await payBeside(idle, [[idle, stranger]]))).toMatchObject({ tokenTransfer: 'unproven' });
  expect(await inclusionOf(await payBeside(idle, []))).toMatchObject({ tokenTransfer: 'unmoved' });
});

test('a log that cannot be read may be of the token, so that it proves nothing', async () => {
  const token = await chain.deploy('OddTokens.sol', 'IdleToken');
  const unpaid = await pay(await walletWith(token), token);
  const receipt: object = Object(await request(chain.url, 'eth_getTransactionReceipt', [unpaid.hashes[0]]));
  const client = clientFor(anvilChain(), [first.url]);
  const stated = async (logs: readonly unknown[]) => {
    first.follow((method) => (method === 'eth_getTransactionReceipt' ? { result: { ...receipt, logs } } : 'forward'));
    return (await inclusionOf(unpaid, client)).tokenTransfer;
  };
  expect([await stated([]), await stated([null]), await stated([{}])]).toEqual(['unmoved', 'unproven', 'unproven']);
});

test('balances of another block at the same number prove nothing', async () => {
  const token = await chain.deploy('OddTokens.sol', 'OwnEventToken');
  const paid = await pay(await walletWith(token), token);
  const client = clientFor(anvilChain(), [first.url]);
  let isReplaced = false;
  first.follow((method) => {
    if (method === 'eth_call') isReplaced = true;
    const block = { number: '0x1', hash: `0x${'5e'.repeat(32)}`, baseFeePerGas: '0x1' };
    return method === 'eth_getBlockByNumber' && isReplaced ? { result: block } : 'forward';
  });
  expect(await inclusionOf(paid, client)).toMatchObject({ tokenTransfer: 'unproven' });
});

test('one RPC node of two proves neither that a token moved nor that it did not', async () => {
  const token = await chain.deploy('OddTokens.sol', 'OwnEventToken');
  const idle = await chain.deploy('OddTokens.sol', 'IdleToken');
  const paid = await pay(await walletWith(token), token);
  const unpaid = await pay(await walletWith(idle), idle);
  const stated = async (watched: WatchedAttempts, client: ChainClient) =>
    (await inclusionOf(watched, client)).tokenTransfer;
  expect(await stated(paid, twoNodes(honest, honest))).toBe('moved');
  expect(await stated(unpaid, twoNodes(honest, honest))).toBe('unmoved');
  for (const faulty of [constantBalance, prunedState]) {
    expect(await stated(paid, twoNodes(honest, faulty))).toBe('unproven');
    expect(await stated(paid, twoNodes(faulty, honest))).toBe('unproven');
  }
  expect(await stated(unpaid, twoNodes(honest, prunedState))).toBe('unproven');
  // While the second node does not answer, the first one alone proves nothing that could stay.
  expect(
    await inclusionOf(
      paid,
      twoNodes(honest, () => 'cut'),
    ),
  ).toMatchObject({
    secondNode: 'away',
    tokenTransfer: 'unproven',
  });
});

test('a log that one node of two shows alone proves no transfer', async () => {
  const token = await chain.deploy('OddTokens.sol', 'IdleToken');
  const from = await walletWith(token);
  const unpaid = await pay(from, token);
  const receipt: object = Object(await request(chain.url, 'eth_getTransactionReceipt', [unpaid.hashes[0]]));
  const word = (address: string) => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const topics = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', word(from), word(bob())];
  const log = { address: token, topics, data: `0x${PAID.toString(16).padStart(64, '0')}`, logIndex: '0x0' };
  const forging = (method: string) =>
    method === 'eth_getTransactionReceipt' ? { result: { ...receipt, logs: [log] } } : ('forward' as const);
  for (const client of [() => twoNodes(forging, honest), () => twoNodes(honest, forging)]) {
    expect(await inclusionOf(unpaid, client())).toMatchObject({ succeeded: true, tokenTransfer: 'unproven' });
  }
});

test('what the balances proved of a block stays when the state is pruned', async () => {
  for (const [name, transfer] of [
    ['OwnEventToken', 'moved'],
    ['IdleToken', 'unmoved'],
  ] as const) {
    const token = await chain.deploy('OddTokens.sol', name);
    const paid = await pay(await walletWith(token), token);
    const inclusion = await inclusionOf(paid, twoNodes(honest, honest));
    await chain.client.mine({ blocks: 70 });
    const later = await inclusionOf({ ...paid, inclusion }, twoNodes(prunedState, prunedState));
    expect(later).toMatchObject({ tokenTransfer: transfer, finalized: true, changes: inclusion.changes });
    // The same block of another attempt has its own proof.
    const other = { ...inclusion, blockHash: `0x${'5e'.repeat(32)}` };
    expect(await inclusionOf({ ...paid, inclusion: other }, twoNodes(prunedState, prunedState))).toMatchObject({
      tokenTransfer: 'unproven',
    });
  }
});

test('a call that is no payment of the record, and a cancellation, are judged by the receipt alone', async () => {
  const token = await chain.deploy('OddTokens.sol', 'IdleToken');
  const { tokenPayment, ...call } = await pay(await walletWith(token), token);
  expect(await inclusionOf(call)).not.toHaveProperty('tokenTransfer');
  const replaced = {
    ...call,
    tokenPayment: { ...(tokenPayment ?? { to: bob(), tokenAddress: token, amount: amountOf(PAID) }), hashes: [] },
  };
  expect(await inclusionOf(replaced)).not.toHaveProperty('tokenTransfer');
});
