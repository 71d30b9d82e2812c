import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import type { DataFee } from '#chains/evm/client/data-fee.ts';
import { dataFee, operatorFee } from '#chains/evm/client/data-fee.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { callFault, dryRunFault, tokensHeld } from '#chains/evm/client/dry-run.ts';
import { permanent, shortOf } from '#chains/permanent-fault.ts';
import type { Fees, TipRow } from '#chains/evm/client/fees.ts';
import {
  feeTiers,
  gasLimitFor,
  gasNeeded,
  median,
  replacementFees,
  tipNeeded,
  withMinTip,
} from '#chains/evm/client/fees.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import {
  getBalanceAt,
  getBlock,
  estimateGas,
  getLineaTip,
  getNonce,
  getFeeHistory,
  getMaxPriorityFee,
} from '#chains/evm/client/rpc-calls.ts';
import { parseUnsigned, serialiseUnsigned } from '#chains/evm/rules/transaction.ts';
import type { Call } from '#chains/evm/rules/call.ts';
import { callOf } from '#chains/evm/rules/call.ts';
import { spendingOf } from '#chains/inspect/spending.ts';
import type { EvmQuote } from '#chains/evm/rules/compose.ts';
import { amountOf, parseAmount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Funds } from '#domain/wallet/reservation.ts';
import { sumOf } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt, Speed } from '#domain/transaction/transaction.ts';

interface QuoteTerms {
  readonly chain: Chain;
  readonly replaced: Attempt | null;
  readonly speed: Speed;
  /** The other RPC nodes of the chain, which estimate the gas as well. */
  readonly others: Promise<readonly RpcNode[]>;
}

/**
 * Returns the current cost of an intent, after all checks that are possible before signing.
 *
 * Refuses permanently, in order: INSUFFICIENT_FUNDS for the amount itself or a token balance,
 * SIMULATION_REVERTED (with the contract's reason), FEE_CAP_EXCEEDED, INSUFFICIENT_FUNDS for amount
 * and fee together. The checked fee includes what rollups charge besides gas; `Quote.maxFee` is
 * what the bytes themselves allow.
 */
export async function quoteTransaction(
  node: RpcNode,
  intent: OnChainIntent,
  { chain, replaced, speed, others }: QuoteTerms,
): Promise<Result<EvmQuote, PermanentFault | NodeProblem>> {
  const call = callOf(intent);
  if (call === null) throw new Error('a stored intent is not in canonical form');
  // Each request is sent as soon as its input is known: a payment waits for two answers in a row.
  const head = headOf(node);
  const price = priceOf(node, { chain, replaced, speed, intent, call, head });
  const [funds, fees, cost] = await Promise.all([
    fundsAt(node, intent, { call, head }),
    price,
    costOf(node, intent, { chain, call, price, others }),
  ]);
  if (!funds.ok) return funds;
  if (!fees.ok) return fees;
  if (!cost.ok) return cost;
  const { gasLimit, dataFee: extra } = cost.value;
  const { maxFeePerGas, maxPriorityFeePerGas } = fees.value;
  const maxFee = gasLimit * maxFeePerGas;
  const charged = maxFee + extra;
  if (charged > BigInt(intent.maxFee)) {
    return refused(
      permanent('FEE_CAP_EXCEEDED', `The fee may be up to ${charged} wei. The maximum is ${intent.maxFee} wei.`),
    );
  }
  const balance = sumOf(funds.value.holds, null);
  if (balance < call.value + charged) return refused(poor(balance, call.value + charged));
  return accepted({
    spending: { amounts: spendingOf(intent, charged), funds: funds.value },
    gasLimit: gasLimit.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    maxFee: amountOf(maxFee),
  });
}

/** A value of an RPC node, which may not have arrived yet. */
type Reading<T> = Promise<Result<T, NodeProblem>>;

interface Head {
  readonly number: bigint;
  /** Wei. */
  readonly baseFeePerGas: bigint;
}

/**
 * Returns the wallet's balances and its nonce, all in the state after one block: the nonce shows
 * which of its transactions the balances already reflect. Refuses INSUFFICIENT_FUNDS for what the
 * intent pays, and what `tokensHeld` refuses.
 */
async function fundsAt(
  node: RpcNode,
  intent: OnChainIntent,
  { call, head: reading }: { readonly call: Call; readonly head: Reading<Head> },
): Promise<Result<Funds, PermanentFault | NodeProblem>> {
  const head = await reading;
  if (!head.ok) return head;
  const tag = head.value.number;
  const [balance, count, token] = await Promise.all([
    node.request(getBalanceAt(intent.from, tag)),
    node.request(getNonce(intent.from, tag)),
    tokensHeld(node, intent, { call, tag }),
  ]);
  if (!balance.ok) return balance;
  if (balance.value < call.value) return refused(poor(balance.value, call.value));
  if (!token.ok) return token;
  if (!count.ok) return count;
  const native = { tokenAddress: null, amount: amountOf(balance.value) };
  return accepted({
    blockNumber: tag.toString(),
    nonceCount: count.value.toString(),
    holds: token.value === null ? [native] : [native, token.value],
    least: amountOf(0n),
  });
}

interface Priced {
  readonly chain: Chain;
  readonly call: Call;
  readonly price: Reading<Fees>;
  /** The other RPC nodes that estimate the gas; none when absent. */
  readonly others?: Promise<readonly RpcNode[]>;
}

export interface Cost {
  readonly gasLimit: bigint;
  /**
   * What rollups charge besides gas, for the bytes on Ethereum and for their operator, in wei; 0
   * elsewhere.
   */
  readonly dataFee: bigint;
}

/**
 * Runs the call, and returns its gas limit and its data fee. Refuses as `quoteTransaction` does for
 * the call itself.
 */
export async function costOf(
  node: RpcNode,
  intent: OnChainIntent,
  priced: Priced,
): Promise<Result<Cost, PermanentFault | NodeProblem>> {
  const { call, price, others = Promise.resolve([]) } = priced;
  const [failure, estimate, fees, data, estimates] = await Promise.all([
    dryRunFault(node, intent, call),
    node.request(estimateGas(intent.from, call)),
    price,
    dataFeeAt(node, intent, priced),
    others.then((nodes) => Promise.all(nodes.map((one) => one.request(estimateGas(intent.from, call))))),
  ]);
  if (failure !== null) return refused(failure);
  if (!estimate.ok) return refused(callFault(estimate.refusal));
  if (!fees.ok) return fees;
  if (!data.ok) return data;
  const gas = gasNeeded(intent.from, call, [estimate.value, ...estimates.flatMap((one) => (one.ok ? one.value : []))]);
  const gasLimit = gasLimitFor(gas);
  const operator = data.value.hasOperator ? await operatorFee(node, intent.from, gasLimit) : accepted(0n);
  if (!operator.ok) return operator;
  const besides = data.value.fee + operator.value;
  const charged = gasLimit * fees.value.maxFeePerGas + besides;
  // Only a faulty RPC node leads here: no gas at all, or a fee above the largest amount.
  if (estimate.value === 0n || parseAmount(charged.toString()) === null) {
    return refused({ kind: 'unusable', detail: 'The RPC node returned an impossible fee estimate.' });
  }
  return accepted({ gasLimit, dataFee: besides });
}

/** Returns the data fee of the call at a price. */
async function dataFeeAt(
  node: RpcNode,
  intent: OnChainIntent,
  { chain, call, price }: Priced,
): Promise<Result<DataFee, NodeProblem>> {
  const fees = await price;
  if (!fees.ok) return fees;
  return dataFee(node, chain, { from: intent.from, unsigned: placeholder(intent, call, fees.value) });
}

interface PriceRequest extends Required<QuoteRequest> {
  readonly replaced: Attempt | null;
  readonly speed: Speed;
}

/** Returns the prices of the market, or for a replacement the higher ones that nodes require. */
async function priceOf(node: RpcNode, request: PriceRequest): Promise<Result<Fees, NodeProblem>> {
  const { replaced, speed } = request;
  const market = await marketTiers(node, request);
  if (!market.ok) return market;
  const fees = market.value.tiers[speed];
  if (replaced === null) return accepted(fees);
  return accepted(withMinTip(replacementFees(fees, feesOf(replaced)), tipNeeded(replaced.sent)));
}

interface QuoteRequest {
  readonly chain: Chain;
  readonly intent: OnChainIntent;
  readonly call: Call;
  /** Requested here when absent. */
  readonly head?: Reading<Head>;
}

/**
 * Returns the tip that the chain requires for this very call; null when tips do not depend on the
 * call, or the RPC node does not report one.
 */
async function tipOfCall(node: RpcNode, { chain, intent, call }: QuoteRequest): Promise<bigint | null> {
  if (chain.gasEstimate !== 'linea') return null;
  const tip = await node.request(getLineaTip(intent.from, call));
  return tip.ok ? tip.value : null;
}

/** Returns the row with the tip of the call as a floor for each speed. */
function withFloor(chain: Chain, ofCall: bigint | null): TipRow {
  if (ofCall === null) return chain;
  const { minTip = '0' } = chain;
  return { minTip: ofCall > BigInt(minTip) ? ofCall.toString() : minTip };
}

/**
 * Returns the base fee of the newest block, and the prices for inclusion in one of the next blocks
 * at each speed. The tip is the RPC node's own suggestion, bounded by the tips of the last blocks,
 * else their median, else the floor. Wei per gas.
 */
export async function marketTiers(node: RpcNode, request: QuoteRequest) {
  const [head, suggested, paid, ofCall] = await Promise.all([
    request.head ?? headOf(node),
    node.request(getMaxPriorityFee),
    node.request(getFeeHistory),
    tipOfCall(node, request),
  ]);
  if (!head.ok) return head;
  const tips = paid.ok ? paid.value : [];
  const { baseFeePerGas } = head.value;
  const tiers = feeTiers(withFloor(request.chain, ofCall), baseFeePerGas, {
    suggested: suggested.ok ? suggested.value : median(tips.map(({ middle }) => middle)),
    low: median(tips.map(({ low }) => low)),
    high: median(tips.map(({ high }) => high).filter((tip) => tip > 0n)),
  });
  return accepted({ baseFeePerGas, tiers });
}

async function headOf(node: RpcNode): Promise<Result<Head, NodeProblem>> {
  const block = await node.request(getBlock('latest'));
  if (!block.ok) return block;
  const { number, baseFeePerGas = null } = block.value ?? {};
  if (number !== undefined && baseFeePerGas !== null) return accepted({ number, baseFeePerGas });
  return refused({ kind: 'unusable', detail: 'The chain has no base fee (EIP-1559).' });
}

/**
 * Returns the bytes at their maximum length: the data fee depends on the length, and the nonce is
 * not known yet.
 */
function placeholder(intent: OnChainIntent, call: Call, price: Fees) {
  const chainId = chainIdOf(intent.chain) ?? 0n;
  return serialiseUnsigned({ ...call, ...price, chainId, nonce: 0xffffffffn, gasLimit: 0xffffffn });
}

function feesOf(attempt: Attempt): Fees {
  const parsed = parseUnsigned(attempt.payload);
  if (!parsed.ok) throw new Error(`a stored payload cannot be read: ${parsed.refusal}`);
  return parsed.value;
}

function poor(held: bigint, needed: bigint): PermanentFault {
  return shortOf(null, needed - held, `The wallet holds ${held} wei. The transaction requires ${needed} wei.`);
}
