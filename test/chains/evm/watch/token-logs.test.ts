import type { Address, Hex } from 'viem';
import { getAddress, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { displayTypeOfCall } from '#domain/transaction/classification.ts';
import { movementsOf } from '#domain/asset/movement.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';
import nativeLog from './field/log-of-native-payment.json' with { type: 'json' };
import wrapped from './field/wrapped-ether.json' with { type: 'json' };
import { showBlockOf } from './one-block-node.ts';
import { unitsIn } from '../../readings.ts';

/** Covers logs that move a token in another form than the standards, and logs that move none. */

let chain: LocalChain;
let node: FalseNode;

beforeAll(async () => {
  chain = await startLocalChain();
  node = await startFalseNode(chain.url);
});
afterAll(async () => {
  await node.stop();
  await chain.stop();
});

const VAULT = getAddress(wrapped.vault);
const WETH = getAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
const ETHER = 10n ** 18n;
const listing = (address: string, symbol = 'WETH'): Partial<Chain> => ({
  tokens: [{ address, symbol, decimals: 18, isCash: true }],
});

type Mined = Parameters<typeof showBlockOf>[1];

/** Returns the changes of the vault by a transaction of the field inputs. */
async function changesOf(mined: Mined, differences: Partial<Chain>) {
  showBlockOf(node, mined);
  const own = anvilChain(differences);
  const seen = await clientFor(own, [node.url]).activity(mined.transaction.hash, null);
  if (!seen.ok || seen.value === null) throw new Error('there is no record');
  const { changes } = movementsOf(VAULT, seen.value.movements, own);
  return { changes, lines: changes.map(({ tokenAddress, units }) => [tokenAddress, BigInt(units)]) };
}

test('wrapping and unwrapping a listed asset has two sides, and is a trade', async () => {
  const deposit = await changesOf(wrapped.deposit, listing(WETH));
  expect(deposit.lines).toEqual([
    [null, -ETHER],
    [WETH, ETHER],
  ]);
  const { transaction, receipt, trace } = wrapped.withdrawal;
  const withdrawal = await changesOf({ transaction, receipt, trace }, listing(WETH));
  expect(withdrawal.lines).toEqual([
    [null, (ETHER * 4n) / 10n],
    [WETH, (-ETHER * 4n) / 10n],
  ]);
  for (const { changes } of [deposit, withdrawal]) expect(displayTypeOfCall(changes)).toBe('TRADED');
});

test('an unlisted contract, and a listed token that wraps nothing, move nothing by the same log', async () => {
  for (const differences of [
    { tokens: [] },
    listing(WETH, 'USDC'),
    listing('0x1111111111111111111111111111111111111111'),
  ]) {
    expect((await changesOf(wrapped.deposit, differences)).lines).toEqual([[null, -ETHER]]);
  }
});

test('a wrapped asset that logs a transfer as well is counted once', async () => {
  const { transaction, receipt } = wrapped.deposit;
  const [deposit] = receipt.logs;
  const [, owner = ''] = deposit?.topics ?? [];
  const topics = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', `0x${'0'.repeat(64)}`, owner];
  const both = {
    ...receipt,
    logs: [
      { ...deposit, topics, logIndex: '0x0' },
      { ...deposit, logIndex: '0x1' },
    ],
  };
  const twice = { ...receipt, logs: [...both.logs, { ...deposit, logIndex: '0x2' }] };
  const balanceOf = async (changed: object) =>
    (await changesOf({ transaction, receipt: changed }, listing(WETH))).lines[1]?.[1];
  expect(await balanceOf(both)).toBe(ETHER);
  expect(await balanceOf(twice)).toBe(2n * ETHER);
});

test('the log of a native payment is no token, so ether is counted once', async () => {
  expect((await changesOf(nativeLog, {})).lines).toEqual([[null, ETHER]]);
  const { transaction, receipt } = nativeLog;
  const simulated = { ...receipt, logs: receipt.logs.map((log) => ({ ...log, address: `0x${'ee'.repeat(20)}` })) };
  expect((await changesOf({ transaction, receipt: simulated }, {})).lines).toEqual([[null, ETHER]]);
});

const MINT = parseAbi(['function mint(address to, uint256 id)', 'function transfer(address to, uint256 id)']);

async function write(
  token: Address,
  functionName: 'mint' | 'transfer',
  [to, id]: [Address, bigint],
  from: Address,
): Promise<Hex> {
  const hash = await chain.client.writeContract({
    account: from,
    address: token,
    abi: MINT,
    functionName,
    args: [to, id],
  });
  await chain.mined(hash);
  return hash;
}

async function movementsIn(hash: Hex) {
  const seen = await chain.chainClient().activity(hash, null);
  if (!seen.ok || seen.value === null) throw new Error('there is no record');
  return seen.value.movements.map(({ kind, to, tokenId, amount }) => [kind, to, tokenId, amount]);
}

test.each(['OldCollectible', 'DataCollectible'])('%s: a collectible from before ERC-721 has its id', async (name) => {
  const token = await chain.deploy('OddTokens.sol', name);
  const [alice, bob] = [chain.account(0), chain.account(1)];
  expect(await movementsIn(await write(token, 'mint', [alice, 123_456_789n], bob))).toEqual([
    ['erc721', alice, '123456789', '1'],
  ]);
  expect(await movementsIn(await write(token, 'transfer', [bob, 123_456_789n], alice))).toEqual([
    ['erc721', bob, '123456789', '1'],
  ]);
  const held = await chain
    .chainClient({ confirmations: 1 })
    .holdings(bob, [{ kind: 'erc721', tokenAddress: token, tokenId: '123456789' }], false);
  expect(held.ok && unitsIn(held.value)).toEqual(['1']);
});

test('an amount of a token stays an amount, also where its log indexes nothing', async () => {
  const [alice, bob] = [chain.account(0), chain.account(1)];
  const dollar = await chain.deployDollar(alice);
  expect(await movementsIn(await write(dollar, 'transfer', [bob, 7n], alice))).toEqual([['erc20', bob, null, '7']]);
  const old = await chain.deploy('OddTokens.sol', 'UnindexedToken');
  expect(await movementsIn(await write(old, 'mint', [bob, 7n], alice))).toEqual([['erc20', bob, null, '7']]);
});
