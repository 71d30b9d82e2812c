import type { Hex } from 'viem';
import { getAddress, parseAbi, parseEther } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { callOf } from '#chains/evm/rules/call.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ContractInteractionIntent, Erc20ApproveIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { compile } from '#local/evm/contracts/compile.ts';
import { BOB, CREATED_AT_MS, NATIVE, amount, present } from '../cast.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain, OddToken } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

let chain: LocalChain;
let liar: FalseNode;
let dollar: string;
let odd: Record<OddToken, string>;
let native: TransferIntent;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  native = { ...NATIVE, from: chain.account(0) };
  dollar = await chain.deployDollar(chain.account(0));
  odd = await chain.deployOddTokens(chain.account(9));
});

afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

/** Returns a new wallet that holds exactly this amount. */
async function walletWith(wei: bigint): Promise<string> {
  const address = getAddress(`0x${crypto.randomUUID().replaceAll('-', '').padEnd(40, '7')}`);
  await chain.client.setBalance({ address, value: wei });
  return address;
}

function token(address: string, units = '25000000'): TransferIntent {
  return { ...native, tokenAddress: address, amount: amount(units) };
}

async function quoteOf(intent: TransferIntent, replaced: Attempt | null = null) {
  return chain.chainClient().quote(intent, replaced);
}

const permanent = (reason: string, detail: unknown = expect.any(String)) => ({
  ok: false,
  refusal: { kind: 'permanent', reason, detail },
});
/** Returns INSUFFICIENT_FUNDS with the missing amount. */
const short = (missing: unknown, detail: unknown = expect.any(String), tokenAddress: string | null = null) => ({
  ok: false,
  refusal: { ...permanent('INSUFFICIENT_FUNDS', detail).refusal, missing: { tokenAddress, amount: missing } },
});
const transient = (detail: unknown) => ({ ok: false, refusal: { kind: 'transient', detail } });

test('a payment is quoted at twice the base fee, with exactly the gas of a payment', async () => {
  const { baseFeePerGas } = await chain.client.getBlock();
  const tip = await chain.client.estimateMaxPriorityFeePerGas();
  const quote = await quoteOf(native);
  const maxFeePerGas = 2n * (baseFeePerGas ?? 0n) + tip;
  expect(quote).toEqual({
    ok: true,
    value: {
      gasLimit: '21000',
      maxFeePerGas: `${maxFeePerGas}`,
      maxPriorityFeePerGas: `${tip}`,
      maxFee: `${21_000n * maxFeePerGas}`,
      spending: {
        amounts: [{ tokenAddress: null, amount: `${21_000n * maxFeePerGas + BigInt(native.amount)}` }],
        funds: expect.objectContaining({ nonceCount: expect.any(String), least: '0' }),
      },
    },
  });
  if (!quote.ok) throw new Error('no quote');
  const composed = chain.chainClient().rules.compose(native, quote.value, 3n);
  expect(inspectPayload(native, composed.payload)).toMatchObject({ ok: true, value: { bid: { nonce: 3n } } });
  expect(composed.maxFee).toBe(quote.value.maxFee);
});

test('a token transfer is quoted with a margin, also for a token that answers nothing', async () => {
  const quote = await quoteOf(token(dollar));
  const gas = quote.ok ? Number(quote.value.gasLimit) : 0;
  expect(gas).toBeGreaterThan(50_000);
  expect(gas).toBeLessThan(80_000);
  expect((await quoteOf(token(odd.SilentToken))).ok).toBe(true);
  expect((await quoteOf(token(odd.SwitchedToken))).ok).toBe(true);
});

test('a token that returns false, reverts, or reverts without a reason fails before anything is signed', async () => {
  expect(await quoteOf(token(odd.FalseToken))).toEqual(permanent('SIMULATION_REVERTED', 'The token returned false.'));
  expect(await quoteOf(token(odd.BlockingToken))).toEqual(permanent('SIMULATION_REVERTED', 'this address is blocked'));
  const wordless = await quoteOf(token(odd.WordlessToken));
  expect(wordless).toEqual(permanent('SIMULATION_REVERTED', expect.stringMatching(/custom error 0x[0-9a-f]{8}\.$/)));
});

test('a transfer of anything but a token fails before it is signed', async () => {
  const nothing = 'There is no contract at this address.';
  expect(await quoteOf(token(BOB))).toEqual(permanent('SIMULATION_REVERTED', nothing));
  const [stops, reverts] = [await walletWith(0n), await walletWith(0n)] as [Hex, Hex];
  await chain.client.setCode({ address: stops, bytecode: '0x00' });
  await chain.client.setCode({ address: reverts, bytecode: '0x60006000fd' });
  expect(await quoteOf(token(stops))).toEqual(
    permanent('SIMULATION_REVERTED', 'The contract did not return an amount.'),
  );
  expect(await quoteOf(token(reverts))).toEqual(permanent('SIMULATION_REVERTED'));
});

function allowance(tokenAddress: string, units: string): Erc20ApproveIntent {
  const { to: spender, tokenAddress: _token, ...frame } = native;
  return { ...frame, kind: 'erc20-approve', tokenAddress, spender, amount: amount(units) };
}

function interaction(to: string, data: string, value = '0'): ContractInteractionIntent {
  const { to: _to, tokenAddress: _token, amount: _amount, ...frame } = native;
  return { ...frame, kind: 'contract-interaction', to, data, value: amount(value) };
}

test('an allowance is quoted when it is set, revoked or changed, unless the token requires a change from zero', async () => {
  expect((await chain.chainClient().quote(allowance(dollar, '5'), null)).ok).toBe(true);
  expect((await chain.chainClient().quote(allowance(odd.ResettingToken, '5'), null)).ok).toBe(true);
  const { client } = chain;
  const abi = parseAbi(['function approve(address spender, uint256 value)']);
  const [address, account] = [getAddress(odd.ResettingToken), chain.account(0)];
  await chain.mined(await client.writeContract({ account, address, abi, functionName: 'approve', args: [BOB, 3n] }));
  expect(await chain.chainClient().quote(allowance(odd.ResettingToken, '5'), null)).toEqual(
    permanent('ALLOWANCE_NOT_ZERO', expect.stringContaining('The allowance is 3.')),
  );
  expect((await chain.chainClient().quote(allowance(odd.ResettingToken, '0'), null)).ok).toBe(true);
  expect((await chain.chainClient().quote(allowance(dollar, '7'), null)).ok).toBe(true);
});

test('an allowance of a contract without allowances fails before it is signed', async () => {
  const unknownSpender = await chain.chainClient().quote(allowance(BOB, '5'), null);
  expect(unknownSpender).toEqual(permanent('SIMULATION_REVERTED', 'There is no contract at this address.'));
  expect(await chain.chainClient().quote(allowance(odd.SilentToken, '5'), null)).toEqual(
    permanent('SIMULATION_REVERTED'),
  );
});

test('an ERC-721 approval with the same calldata as a revoked ERC-20 allowance is refused as an allowance', async () => {
  const { abi, bytecode } = present(compile('Movers.sol').get('Collection'));
  const deployed = await chain.mined(await chain.client.deployContract({ account: chain.account(9), abi, bytecode }));
  const collection = getAddress(present(deployed.contractAddress));
  const refusal = permanent('SIMULATION_REVERTED', 'The contract is not an ERC-20 token: it has no allowances.');
  expect(await chain.chainClient().quote(allowance(collection, '0'), null)).toEqual(refusal);
  expect(await chain.chainClient().quote(allowance(collection, '7'), null)).toEqual(refusal);
  // The approval can be sent as a contract call, which every policy rule checks.
  const { data } = present(callOf(allowance(collection, '0')));
  expect((await chain.chainClient().quote(interaction(collection, data), null)).ok).toBe(true);
});

test('a contract call is simulated before it is signed, and its return value is not checked', async () => {
  const zero = '0x18160ddd';
  expect((await chain.chainClient().quote(interaction(dollar, zero), null)).ok).toBe(true);
  // A transfer of 5 tokens to bob by a token that returns false. In a plain contract call this is
  // not a failure.
  const call = callOf({ ...token(odd.FalseToken), amount: amount('5') });
  expect((await chain.chainClient().quote(interaction(odd.FalseToken, call?.data ?? ''), null)).ok).toBe(true);
  expect(await chain.chainClient().quote(interaction(odd.BlockingToken, call?.data ?? ''), null)).toEqual(
    permanent('SIMULATION_REVERTED', 'this address is blocked'),
  );
  expect(await chain.chainClient().quote(interaction(dollar, zero, '1'), null)).toEqual(
    permanent('SIMULATION_REVERTED'),
  );
  expect(await chain.chainClient().quote(interaction(BOB, zero), null)).toEqual(
    permanent('SIMULATION_REVERTED', 'There is no contract at this address.'),
  );
  const poor = { ...interaction(dollar, zero, '1'), from: await walletWith(0n) };
  expect(await chain.chainClient().quote(poor, null)).toEqual(
    short('1', 'The wallet holds 0 wei. The transaction requires 1 wei.'),
  );
});

test('an estimate has three speeds, none cheaper than a slower one, and the normal one is the one that is signed', async () => {
  const estimated = await chain.chainClient().estimate(native);
  const quote = await quoteOf(native);
  if (!estimated.ok || !quote.ok) throw new Error('no estimate');
  const { slow, normal, fast, gasLimit, dataFee } = estimated.value;
  expect([gasLimit, dataFee]).toEqual(['21000', '0']);
  expect([normal.maxFeePerGas, normal.maxPriorityFeePerGas, normal.maxFee]).toEqual([
    quote.value.maxFeePerGas,
    quote.value.maxPriorityFeePerGas,
    quote.value.maxFee,
  ]);
  for (const speed of ['slow', 'normal', 'fast'] as const) {
    const { maxFeePerGas, maxPriorityFeePerGas, maxFee } = estimated.value[speed];
    const requested = await chain.chainClient().quote(native, null, { speed });
    expect(requested).toMatchObject({ ok: true, value: { maxFeePerGas, maxPriorityFeePerGas, maxFee } });
  }
  for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas', 'maxFee', 'expectedFee'] as const) {
    const [a, b, c] = [slow, normal, fast].map((tier) => BigInt(tier[field]));
    expect([field, (a ?? 0n) <= (b ?? 0n), (b ?? 0n) <= (c ?? 0n)]).toEqual([field, true, true]);
  }
  for (const tier of [slow, normal, fast]) expect(BigInt(tier.expectedFee) <= BigInt(tier.maxFee)).toBe(true);
  const tokens = await chain.chainClient().estimate(token(dollar));
  expect(tokens.ok && BigInt(tokens.value.gasLimit) > 30_000n).toBe(true);
  expect(await chain.chainClient().estimate(token(odd.BlockingToken))).toEqual(
    permanent('SIMULATION_REVERTED', 'this address is blocked'),
  );
});

test('a payment to a contract that accepts no payment fails before it is signed', async () => {
  expect(await quoteOf({ ...native, to: dollar })).toEqual(permanent('SIMULATION_REVERTED'));
});

test('a wallet without the amount, the tokens or the fee is refused with the missing amount', async () => {
  const empty = await walletWith(0n);
  expect(await quoteOf({ ...native, from: empty })).toEqual(
    short('1000', 'The wallet holds 0 wei. The transaction requires 1000 wei.'),
  );
  const noFee = await walletWith(1000n);
  expect(await quoteOf({ ...native, from: noFee })).toEqual(
    short(expect.any(String), expect.stringContaining('The wallet holds 1000 wei.')),
  );
  const noTokens = await walletWith(parseEther('1'));
  expect(await quoteOf({ ...token(dollar), from: noTokens })).toEqual(
    short('25000000', 'The wallet holds 0 token units. The transaction requires 25000000.', dollar),
  );
});

test('a wallet can be emptied except for the fee', async () => {
  const quote = await quoteOf(native);
  if (!quote.ok) throw new Error('no quote');
  const from = await walletWith(10n ** 15n);
  const all = 10n ** 15n - BigInt(quote.value.maxFee);
  expect((await quoteOf({ ...native, from, amount: amountOf(all) })).ok).toBe(true);
  expect(await quoteOf({ ...native, from, amount: amountOf(all + 1n) })).toEqual(short('1'));
});

test('a fee above the approved cap is refused, and a fee at the cap is accepted', async () => {
  const quote = await quoteOf(native);
  const maxFee = quote.ok ? BigInt(quote.value.maxFee) : 0n;
  expect((await quoteOf({ ...native, maxFee: amountOf(maxFee) })).ok).toBe(true);
  expect(await quoteOf({ ...native, maxFee: amountOf(maxFee - 1n) })).toEqual(
    permanent('FEE_CAP_EXCEEDED', `The fee may be up to ${maxFee} wei. The maximum is ${maxFee - 1n} wei.`),
  );
});

test('a replacement offers an eighth more than the replaced attempt, even when the market price fell', async () => {
  const client = chain.chainClient();
  const high = { gasLimit: '21000', maxFeePerGas: '80000000001', maxPriorityFeePerGas: '7', maxFee: native.maxFee };
  const prepared = client.rules.compose(native, high, 5n);
  const replaced: Attempt = {
    ...prepared,
    purpose: 'intent',
    number: 1,
    preparedAtMs: CREATED_AT_MS,
    signed: null,
    sent: null,
    refusal: null,
  };
  const quote = await client.quote(native, replaced);
  expect(quote).toMatchObject({ ok: true, value: { maxFeePerGas: '90000000003' } });
  // The current market tip is far more than an eighth above 7 wei.
  expect(quote.ok && BigInt(quote.value.maxPriorityFeePerGas)).toBeGreaterThan(1_000_000n);
});

test('the data fee of an OP-stack chain counts towards the cap and the balance', async () => {
  const oracle = '0x420000000000000000000000000000000000000F';
  const before = await quoteOf(native);
  // The gas price oracle before Isthmus: it reverts for getOperatorFee(uint256), whose call has 36
  // bytes, and returns 8 * 10^12 for all other calls.
  const bytecode = '0x36602414601857670000074696a5c00060005260206000f35b600080fd';
  await chain.client.setCode({ address: oracle, bytecode });
  const fee = BigInt('0x0000074696a5c000');
  const quote = await quoteOf(native);
  const maxFee = before.ok ? BigInt(before.value.maxFee) : 0n;
  const charged = maxFee + fee + fee / 4n;
  // The signed maximum fee is as before, and the reserved amount includes the data fee.
  const amounts = [{ tokenAddress: null, amount: `${charged + BigInt(native.amount)}` }];
  expect(quote).toMatchObject({ ok: true, value: { maxFee: `${maxFee}`, spending: { amounts } } });
  expect((await quoteOf({ ...native, maxFee: amountOf(charged) })).ok).toBe(true);
  expect(await quoteOf({ ...native, maxFee: amountOf(charged - 1n) })).toEqual(permanent('FEE_CAP_EXCEEDED'));
  const from = await walletWith(1000n + charged - 1n);
  expect(await quoteOf({ ...native, from })).toEqual(short('1'));
  await chain.client.setCode({ address: oracle, bytecode: '0x' });
});

test('an RPC node of another chain gives no quote', async () => {
  const mainnet = clientFor(anvilChain({ caip2: 'eip155:1' }), [chain.url]);
  const detail = 'The RPC node serves chain 31337, not 1.';
  expect(await mainnet.quote({ ...native, chain: 'eip155:1' }, null)).toEqual(transient(detail));
  expect(await mainnet.accountNonce(native.from)).toEqual({ ok: false, refusal: { detail } });
});

test('a quote without an RPC node, or with unreachable ones, is refused without an exception', async () => {
  const none = clientFor(anvilChain(), []);
  expect(await none.quote(native, null)).toEqual(transient('No RPC node is configured for this chain.'));
  const dead = clientFor(anvilChain(), ['http://127.0.0.1:1/v2/k3yk3yk3yk3y', 'http://127.0.0.1:2/']);
  const quote = await dead.quote(native, null);
  expect(quote).toEqual(transient(expect.stringContaining('eth_chainId')));
  expect(JSON.stringify(quote)).not.toMatch(/127\.0\.0\.1|k3y/);
});

test('an unreachable RPC node is skipped for the next one', async () => {
  const client = clientFor(anvilChain(), ['http://127.0.0.1:1/', chain.url]);
  expect((await client.quote(native, null)).ok).toBe(true);
  expect(await client.accountNonce(BOB)).toEqual({ ok: true, value: { latest: 0n, pending: 0n } });
});

test('a payment that one RPC node finds impossible and the next does not is still quoted', async () => {
  liar.follow((method) => (method === 'eth_getBalance' ? { result: '0x0' } : 'forward'));
  expect((await clientFor(anvilChain(), [liar.url, chain.url]).quote(native, null)).ok).toBe(true);
  const alone = clientFor(anvilChain(), [liar.url, 'http://127.0.0.1:1/']);
  expect(await alone.quote(native, null)).toEqual(short('1000'));
});

test('nonces are counted with and without the mempool', async () => {
  const from = chain.account(3);
  await chain.client.setAutomine(false);
  await chain.client.sendTransaction({ account: from, to: chain.account(4), value: 1n });
  expect(await chain.chainClient().accountNonce(from)).toEqual({ ok: true, value: { latest: 0n, pending: 1n } });
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  expect(await chain.chainClient().accountNonce(from)).toEqual({ ok: true, value: { latest: 1n, pending: 1n } });
});

test('the last blocks give the tip if the RPC node suggests none, and the floor applies without those', async () => {
  const client = clientFor(anvilChain(), [liar.url]);
  const missing: Rule = { error: { code: -32601, message: 'the method does not exist' } };
  const reward = ['0x77359400', '0x0', '0x3b9aca00'].map((tip) => ['0x0', tip, '0x77359400']);
  liar.follow((method) =>
    method === 'eth_maxPriorityFeePerGas' ? missing : method === 'eth_feeHistory' ? { result: { reward } } : 'forward',
  );
  expect(await client.quote(native, null)).toMatchObject({ ok: true, value: { maxPriorityFeePerGas: '1000000000' } });
  liar.follow((method) => (/Priority|History/.test(method) ? missing : 'forward'));
  expect(await client.quote(native, null)).toMatchObject({ ok: true, value: { maxPriorityFeePerGas: '1000000' } });
});

const GARBAGE: readonly (readonly [string, Rule])[] = [
  ['a web page', { status: 200, body: '<html>hello</html>', type: 'text/html' }],
  ['half of a JSON text', { status: 200, body: '{"jsonrpc":' }],
  ['null', { status: 200, body: 'null' }],
  ['a list', { status: 200, body: '[[]]' }],
  ['a text', { status: 200, body: '"0x1"' }],
  ['no result', { status: 200, body: '{}' }],
  ['a result of null', { result: null }],
  ['a number that is not hex', { result: '12' }],
  ['a number that is no text', { result: 12 }],
  ['a number of 33 bytes', { result: `0x1${'0'.repeat(64)}` }],
  ['an object', { result: { number: {} } }],
  ['an error that is no object', { status: 200, body: '{"error":"no"}' }],
  ['an error without a code', { status: 200, body: '{"error":{"message":["no"]}}' }],
  ['a rate limit', { status: 429, body: '{"error":{"code":429,"message":"too many"}}' }],
  ['a rate limit in a 200', { error: { code: -32005, message: 'limit exceeded' } }],
  ['a server error', { status: 500, body: 'upstream https://node.internal/k3yk3yk3yk3y failed', type: 'text/plain' }],
  ['a redirect', { status: 302, body: '' }],
  ['an internal error', { error: { code: -32603, message: 'internal error' } }],
  ['a cut line', 'cut'],
  ['five megabytes', { status: 200, body: `{"result":"0x${'0'.repeat(5_000_000)}"}` }],
];

/**
 * Whichever method returns garbage, the quote is refused as transient or uses the other answers of
 * the RPC node.
 */
test.each(GARBAGE)('an RPC node that answers %s causes neither a wrong price nor an exception', async (_name, rule) => {
  const methods = [
    'eth_chainId',
    'eth_getBalance',
    'eth_getBlockByNumber',
    'eth_estimateGas',
    'eth_call',
    'eth_getCode',
  ];
  const client = clientFor(anvilChain(), [liar.url]);
  for (const bad of methods) {
    liar.follow((method) => (method === bad ? rule : 'forward'));
    const quote = await client.quote(token(dollar), null);
    expect(quote, bad).toEqual(transient(expect.any(String)));
    expect(JSON.stringify(quote)).not.toMatch(/k3y|127\.0/);
  }
  liar.follow((method) => (method === 'eth_getTransactionCount' ? rule : 'forward'));
  expect((await client.accountNonce(native.from)).ok).toBe(false);
});

test('an impossible fee estimate of an RPC node is refused', async () => {
  const client = clientFor(anvilChain(), [liar.url]);
  liar.follow((method) => (method === 'eth_estimateGas' ? { result: '0x0' } : 'forward'));
  expect(await client.quote(native, null)).toEqual(transient('The RPC node returned an impossible fee estimate.'));
  liar.follow((method) => (method === 'eth_estimateGas' ? { result: `0x${'f'.repeat(64)}` } : 'forward'));
  expect(await client.quote(native, null)).toEqual(transient('The RPC node returned an impossible fee estimate.'));
  // A history that cannot be read bounds no tip. The fee cap does.
  liar.follow((method) =>
    method === 'eth_maxPriorityFeePerGas'
      ? { result: '0xde0b6b3a7640000' }
      : method === 'eth_feeHistory'
        ? { error: { code: -32601, message: 'the method does not exist' } }
        : 'forward',
  );
  expect(await client.quote(native, null)).toEqual(permanent('FEE_CAP_EXCEEDED'));
});
