import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { callOf } from '#chains/evm/rules/call.ts';
import { spendingOf } from '#chains/inspect/spending.ts';
import type {
  ContractInteractionIntent,
  Erc20ApproveIntent,
  OnChainIntent,
  TransferIntent,
} from '#domain/transaction/intent.ts';
import { BOB, NATIVE, amount, present } from './cast.ts';
import type { FalseNode } from '../false-node.ts';
import { startFalseNode } from '../false-node.ts';
import type { LocalChain } from './local-chain.ts';
import { anvilChain, startLocalChain } from './local-chain.ts';

/** Covers the spending of an intent in a quote, and the balances with which it is compared. */

let chain: LocalChain;
let node: FalseNode;
let dollar: string;
let native: TransferIntent;

beforeAll(async () => {
  chain = await startLocalChain();
  node = await startFalseNode(chain.url);
  native = { ...NATIVE, from: chain.account(0) };
  dollar = await chain.deployDollar(chain.account(0));
});

afterAll(async () => {
  await node.stop();
  await chain.stop();
});

const paid = (): TransferIntent => ({ ...native, tokenAddress: dollar, amount: amount('25000000') });

function allowance(): Erc20ApproveIntent {
  const { to: _to, ...frame } = paid();
  return { ...frame, kind: 'erc20-approve', tokenAddress: dollar, spender: BOB };
}

function interaction(to: string, data: string, value = '0'): ContractInteractionIntent {
  const { to: _to, tokenAddress: _token, amount: _amount, ...frame } = native;
  return { ...frame, kind: 'contract-interaction', to, data, value: amount(value) };
}

async function quoted(intent: OnChainIntent) {
  const quote = await chain.chainClient().quote(intent, null);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  return present(quote.value.spending);
}

/** Returns the holdings of the wallet at the newest block, with its nonce. */
async function fundsNow() {
  const address = getAddress(native.from);
  return {
    blockNumber: String(await chain.client.getBlockNumber()),
    nonceCount: String(await chain.client.getTransactionCount({ address })),
    holds: [{ tokenAddress: null, amount: String(await chain.client.getBalance({ address })) }],
    least: '0',
  };
}

test('a token transfer of either kind spends its tokens and the fee, and an allowance spends only the fee', async () => {
  const fee = { tokenAddress: null, amount: expect.any(String) };
  const funds = await fundsNow();
  const held = { tokenAddress: dollar, amount: expect.stringMatching(/^[1-9][0-9]+$/) };
  const withTokens = {
    amounts: [fee, { tokenAddress: dollar, amount: '25000000' }],
    funds: { ...funds, holds: [...funds.holds, held] },
  };
  expect(await quoted(paid())).toEqual(withTokens);
  expect(await quoted(interaction(dollar, present(callOf(paid())).data))).toEqual(withTokens);
  expect(await quoted(allowance())).toEqual({ amounts: [fee], funds });
});

test('balance, tokens and nonce are read at one block', async () => {
  const requests: unknown[] = [];
  node.follow((method, params) => {
    if (method === 'eth_getBalance' || method === 'eth_getTransactionCount') requests.push(params[1]);
    if (method === 'eth_call' && JSON.stringify(params).includes('0x70a08231')) requests.push(params[1]);
    return 'forward';
  });
  const quote = await clientFor(anvilChain(), [node.url]).quote(paid(), null);
  const block = quote.ok ? present(quote.value.spending).funds.blockNumber : '';
  expect(requests).toEqual(Array.from({ length: 3 }, () => `0x${BigInt(block).toString(16)}`));
});

test('a call spends its value and the tokens of a transfer, and the spending of any other call is unknown', () => {
  const inNative = (units: string) => ({ tokenAddress: null, amount: units });
  const transfer = present(callOf(paid())).data;
  expect(spendingOf(interaction(dollar, transfer, '7'), 3n)).toEqual([
    inNative('10'),
    { tokenAddress: dollar, amount: '25000000' },
  ]);
  const approve = present(callOf(allowance())).data;
  for (const data of ['0x', '0x18160ddd', approve, transfer.slice(0, -2)]) {
    expect(spendingOf(interaction(dollar, data, '7'), 3n)).toEqual([inNative('10')]);
  }
  expect(spendingOf({ ...native, amount: amount('7') }, 3n)).toEqual([inNative('10')]);
});
