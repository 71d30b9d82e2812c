import type { Hex } from 'viem';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import { word } from '#chains/evm/rules/hex.ts';
import { ethCall, REVERT_CODE } from '#chains/evm/client/rpc-calls.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * The GasPriceOracle of every OP-stack chain; on other chains no contract can have this address.
 */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';
/** Scroll's L1GasPriceOracle, with a function of the same name. */
const SCROLL_PRICE_ORACLE = '0x5300000000000000000000000000000000000002';

/** First four bytes of keccak256('getL1Fee(bytes)'). */
const GET_L1_FEE_SELECTOR = '0x49948e0e';
/** First four bytes of keccak256('getOperatorFee(uint256)'). */
const GET_OPERATOR_FEE_SELECTOR = '0x275aedd2';

/**
 * Scroll counts the bytes as they are sent, with the signature: RLP that contains three lists, with
 * no bytes cheaper than others.
 */
const SIGNATURE_BYTES = 68;

export interface DataFee {
  /** Wei. */
  readonly fee: bigint;
  /** True for the OP stack, where an operator may charge for the gas as well. */
  readonly hasOperator: boolean;
}

const NOTHING: DataFee = { fee: 0n, hasOperator: false };

/**
 * Returns what a rollup charges, besides gas, for publishing the bytes on Ethereum, plus a quarter
 * because the price at inclusion applies. Other chains charge nothing. No field of a transaction
 * limits this fee, so it is checked before signing.
 */
export async function dataFee(
  node: RpcNode,
  { dataFee: kind }: Pick<Chain, 'dataFee'>,
  { from, unsigned }: { readonly from: string; readonly unsigned: Hex },
): Promise<Result<DataFee, NodeFault>> {
  if (kind === 'none') return accepted(NOTHING);
  const isScroll = kind === 'scroll';
  const bytes: Hex = isScroll ? `${unsigned}${'ff'.repeat(SIGNATURE_BYTES)}` : unsigned;
  const data = `${GET_L1_FEE_SELECTOR}${encodeBytes(bytes)}` satisfies Hex;
  const to = isScroll ? SCROLL_PRICE_ORACLE : GAS_PRICE_ORACLE;
  const answer = await node.request(ethCall(from, { to, value: 0n, data }, 'latest'));
  if (!answer.ok) return answer;
  // The chain has the contract and the RPC node does not: the node serves another chain or lags
  // behind.
  if (answer.value === '0x') return kind === undefined ? accepted(NOTHING) : noNumber();
  if (answer.value.length !== 66) return noNumber();
  const fee = BigInt(answer.value);
  return accepted({ fee: fee + fee / 4n, hasOperator: !isScroll });
}

/**
 * Returns what the operator of an OP-stack chain charges for this much gas since Isthmus, in wei,
 * plus a quarter because it may change meanwhile. The contract computes it, because Jovian has
 * another formula. Returns 0 when the contract is older and reverts.
 */
export async function operatorFee(node: RpcNode, from: string, gasLimit: bigint): Promise<Result<bigint, NodeFault>> {
  const data = `${GET_OPERATOR_FEE_SELECTOR}${word(gasLimit)}` satisfies Hex;
  const answer = await node.request(ethCall(from, { to: GAS_PRICE_ORACLE, value: 0n, data }, 'latest'));
  if (!answer.ok) return isRevert(answer.refusal) ? accepted(0n) : answer;
  if (answer.value === '0x') return accepted(0n);
  if (answer.value.length !== 66) return noNumber();
  const fee = BigInt(answer.value);
  return accepted(fee + fee / 4n);
}

function isRevert(fault: NodeFault): boolean {
  return fault.kind === 'error-answer' && (fault.code === REVERT_CODE || /revert/i.test(fault.detail));
}

function noNumber() {
  return refused<NodeFault>({ kind: 'no-answer', detail: 'The gas price oracle did not return a number.' });
}

/** Returns the ABI encoding of one `bytes` argument: offset, length, content padded to words. */
export function encodeBytes(content: Hex): string {
  const digits = content.slice(2);
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
  return `${word(32n)}${word(BigInt(digits.length / 2))}${padded}`;
}
