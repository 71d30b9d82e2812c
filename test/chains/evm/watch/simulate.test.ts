import type { Abi, Address, Hex } from 'viem';
import { encodeFunctionData, erc20Abi, getAddress, toEventSelector, zeroAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evmClient } from '#chains/evm/chain-client.ts';
import { evmRules } from '#chains/evm/rules/chain-rules.ts';
import { APPROVAL, APPROVAL_FOR_ALL } from '#chains/evm/rules/transfer-topics.ts';
import type { ContractInteractionIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import { movementsOf } from '#domain/asset/movement.ts';
import { compile } from '#local/evm/contracts/compile.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import { BOB, NATIVE, amount, present } from '../cast.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

/** Covers the effects of a call that a real chain simulates, compared with its real effects. */

let chain: LocalChain;
let liar: FalseNode;
let alice: Address;
let dollar: Address;
let contracts: Readonly<Record<string, { readonly address: Address; readonly abi: Abi }>>;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  alice = chain.account(0);
  const compiled = compile('Movers.sol');
  const deployed = async (name: string) => {
    const { abi, bytecode } = present(compiled.get(name));
    const receipt = await chain.mined(await chain.client.deployContract({ account: alice, abi, bytecode }));
    return { address: getAddress(present(receipt.contractAddress)), abi: abi as Abi };
  };
  contracts = { splitter: await deployed('Splitter'), collection: await deployed('Collection') };
  dollar = await chain.deployDollar(alice);
});
afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

const payment = (differences: object = {}): OnChainIntent => ({ ...NATIVE, from: alice, ...differences });

function calling(on: string, functionName: string, args: readonly unknown[], value = '0'): ContractInteractionIntent {
  const { address, abi } = present(contracts[on]);
  const { to: _to, tokenAddress: _token, amount: _amount, ...rest } = NATIVE;
  const data = encodeFunctionData({ abi, functionName, args });
  return { ...rest, kind: 'contract-interaction', from: alice, to: address, data, value: amount(value) };
}

/** Returns the simulated net changes of a wallet. */
async function foreseen(intent: OnChainIntent) {
  const simulated = await chain.chainClient().simulate(intent);
  if (!simulated.ok) throw new Error(simulated.refusal.detail);
  if (simulated.value.outcome === 'fails') return simulated.value.detail;
  return movementsOf(alice, simulated.value.movements, anvilChain()).changes;
}

/** Returns the net changes of the executed transaction. */
async function happened({ to, data, value }: { readonly to: string; readonly data: string; readonly value: string }) {
  const call = { account: alice, chain: null, to: getAddress(to), data: data as Hex, value: BigInt(value) };
  const hash = await chain.client.sendTransaction(call);
  await chain.mined(hash);
  const seen = await chain.chainClient().activity(hash, null);
  if (!seen.ok) throw new Error(seen.refusal.detail);
  return movementsOf(alice, seen.value?.movements ?? [], anvilChain()).changes;
}

test.each<[string, string, readonly unknown[], string]>([
  ['a contract that pays on', 'split', [BOB, BOB], '10'],
  ['a payment that comes back inside', 'fail', [BOB], '10'],
  ['a payment by borrowed code', 'borrow', [BOB], '10'],
  ['a contract that destroys itself', 'leave', [BOB], '10'],
])('%s has the simulated effects when it is executed', async (_name, functionName, args, value) => {
  const intent = calling('splitter', functionName, args, value);
  const before = await foreseen(intent);
  expect(before).not.toEqual([]);
  expect(await happened(intent)).toEqual(before);
});

test('a contract that returns a part of the value reduces the wallet by the difference', async () => {
  const intent = calling('splitter', 'split', [alice, BOB], '10');
  const before = await foreseen(intent);
  expect(before).toMatchObject([{ kind: 'native', units: '-5' }]);
  expect(await happened(intent)).toEqual(before);
});

test.each<[string, string, readonly unknown[]]>([
  ['a collectible that comes', 'mint', [zeroAddress, 7n]],
  ['several of a kind that go', 'batch', [BOB, [1n, 2n], [3n, 4n]]],
  ['noise', 'noise', [BOB]],
])('%s has the simulated effects when it is executed', async (_name, functionName, args) => {
  const own = args.map((one) => (one === zeroAddress ? alice : one));
  const intent = calling('collection', functionName, own);
  expect(await happened(intent)).toEqual(await foreseen(intent));
});

test('a payment and a token transfer have exactly their own effects', async () => {
  expect(await foreseen(payment())).toMatchObject([{ kind: 'native', tokenAddress: null, units: '-1000' }]);
  expect(await foreseen(payment({ tokenAddress: dollar, amount: amount('2500000') }))).toMatchObject([
    { kind: 'erc20', tokenAddress: dollar, units: '-2500000' },
  ]);
});

test('a simulated allowance states what its spender may spend, and moves nothing', async () => {
  const { to: _to, ...rest } = NATIVE;
  const allowance = { ...rest, kind: 'erc20-approve', from: alice, spender: BOB, tokenAddress: dollar } as const;
  const simulated = await chain.chainClient().simulate({ ...allowance, amount: amount('77') });
  expect(simulated).toEqual({
    ok: true,
    value: {
      outcome: 'succeeds',
      movements: [],
      allowances: [{ tokenAddress: dollar, tokenId: null, spender: BOB, amount: '77' }],
    },
  });
});

test('a failing call is reported with its reason, or with the missing amount', async () => {
  expect(await foreseen(payment({ tokenAddress: dollar, amount: amount('9'.repeat(30)) }))).toMatch(/./);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [BOB, alice, 1n] });
  const { to: _to, tokenAddress: _token, amount: _amount, ...rest } = NATIVE;
  const theft = { ...rest, kind: 'contract-interaction', from: alice, to: dollar, data, value: amount('0') } as const;
  expect(await foreseen(theft)).toMatch(/./);
  expect(await foreseen(payment({ amount: amount('9'.repeat(25)) }))).toMatch(/insufficient/i);
});

describe('a simulation by a faulty RPC node', () => {
  const reported = async (rule: Rule) => {
    liar.follow((method) => (method === 'eth_simulateV1' ? rule : 'forward'));
    return evmClient(evmRules(anvilChain()), [liar.url]).simulate(payment());
  };
  const logs = (...lines: readonly object[]) => ({ result: [{ calls: [{ status: '0x1', logs: lines }] }] });
  const word = (text: string) => `0x${text.replace('0x', '').toLowerCase().padStart(64, '0')}`;
  const line = (topics: readonly string[], data = '0x') => ({ logIndex: '0x0', address: dollar, topics, data });

  test.each<[string, Rule]>([
    ['does not simulate', { error: { code: -32601, message: 'the method does not exist' } }],
    ['is in trouble', { error: { code: -32000, message: 'header not found' } }],
    ['answers nothing', { result: null }],
    ['answers no calls', { result: [{}] }],
    [
      'answers two calls',
      {
        result: [
          {
            calls: [
              { status: '0x1', logs: [] },
              { status: '0x1', logs: [] },
            ],
          },
        ],
      },
    ],
    ['answers two blocks', { result: [{ calls: [{ status: '0x1', logs: [] }] }, { calls: [] }] }],
    ['answers no logs', { result: [{ calls: [{ status: '0x1' }] }] }],
    ['answers another status', { result: [{ calls: [{ status: '0x2', logs: [] }] }] }],
    ['answers broken logs', { result: [{ calls: [{ status: '0x1', logs: [{}] }] }] }],
    ['hangs up', 'cut'],
  ])('an RPC node that %s gives no simulation result', async (_name, rule) => {
    expect(await reported(rule)).toMatchObject({ ok: false, refusal: { detail: expect.any(String) as string } });
  });

  test("an RPC node's own error message is cleaned, and reported as a failure", async () => {
    const message = 'no \u202Eway at https://node.example/v2/k3yk3yk3yk3y';
    const answer = await reported({
      result: [{ calls: [{ status: '0x0', logs: [], error: { code: -32015, message } }] }],
    });
    expect(answer).toEqual({ ok: true, value: { outcome: 'fails', detail: 'no way at [address]' } });
  });

  test('only allowances of the wallet are read from the logs, the newest of each', async () => {
    const [owner, spender] = [word(alice), word(BOB)];
    const answer = await reported(
      logs(
        line([APPROVAL, owner, spender], word('0x5')),
        line([APPROVAL, owner, spender], word('0x9')),
        line([APPROVAL, spender, owner], word('0x7')),
        line([APPROVAL, owner, spender, word('0x2a')]),
        line([APPROVAL_FOR_ALL, owner, word(dollar)], word('0x1')),
        line([APPROVAL_FOR_ALL, owner, word(contracts['splitter']?.address ?? '')], word('0x0')),
        line([APPROVAL, owner], word('0x7')),
        line([APPROVAL, owner, spender], '0x'),
      ),
    );
    expect(answer.ok && answer.value.outcome === 'succeeds' && answer.value.allowances).toEqual([
      { tokenAddress: dollar, tokenId: null, spender: BOB, amount: '9' },
      { tokenAddress: dollar, tokenId: '42', spender: BOB, amount: '1' },
      { tokenAddress: dollar, tokenId: null, spender: dollar, amount: null },
      { tokenAddress: dollar, tokenId: null, spender: contracts['splitter']?.address, amount: '0' },
    ]);
  });

  test('the topics of allowance events match the standards', () => {
    expect([APPROVAL, APPROVAL_FOR_ALL]).toEqual([
      toEventSelector('Approval(address,address,uint256)'),
      toEventSelector('ApprovalForAll(address,address,bool)'),
    ]);
  });
});

test('wrapping ether shows both sides where the wrapped asset is listed', async () => {
  const weth = await chain.deploy('OddTokens.sol', 'WrappedEther');
  const tokens = [{ address: weth, symbol: 'WETH', decimals: 18, isCash: true }];
  const intent = { ...calling('splitter', 'split', [BOB, BOB], '5'), to: weth, data: '0xd0e30db0' };
  const simulated = await chain.chainClient({ tokens }).simulate(intent);
  expect(simulated.ok && simulated.value.outcome === 'succeeds' && simulated.value.movements).toMatchObject([
    { kind: 'native', to: weth, amount: '5' },
    { kind: 'erc20', from: null, tokenAddress: weth, amount: '5' },
  ]);
  const unlisted = await chain.chainClient({ tokens: [] }).simulate(intent);
  expect(unlisted.ok && unlisted.value.outcome === 'succeeds' && unlisted.value.movements).toHaveLength(1);
});
