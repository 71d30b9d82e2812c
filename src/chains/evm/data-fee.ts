import type { Hex } from 'viem';
import type { NodeFault, RpcNode } from '#chains/json-rpc.ts';
import { word } from '#chains/evm/hex.ts';
import { askCall } from '#chains/evm/question.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** The GasPriceOracle that every OP-stack chain has at this address; elsewhere nothing can stand there. */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000F';

/** First four bytes of keccak256('getL1Fee(bytes)'). */
const GET_L1_FEE_SELECTOR = '0x49948e0e';

/**
 * What an OP-stack chain charges, besides gas, for putting the bytes on Ethereum, in wei, with a quarter more because its price is
 * the one of inclusion. 0 on other chains. No field of a transaction bounds it, so it is weighed before signing.
 */
export async function dataFee(node: RpcNode, from: string, unsigned: Hex): Promise<Result<bigint, NodeFault>> {
  const data = `${GET_L1_FEE_SELECTOR}${encodeBytes(unsigned)}` satisfies Hex;
  const answer = await node.ask(askCall(from, { to: GAS_PRICE_ORACLE, value: 0n, data }, 'latest'));
  if (!answer.ok) return answer;
  if (answer.value === '0x') return accepted(0n);
  if (answer.value.length !== 66) return refused({ kind: 'no-answer', detail: 'the gas price oracle gave no number' });
  const fee = BigInt(answer.value);
  return accepted(fee + fee / 4n);
}

/** ABI of one `bytes` argument: offset, length, content padded to words. */
export function encodeBytes(content: Hex): string {
  const digits = content.slice(2);
  const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
  return `${word(32n)}${word(BigInt(digits.length / 2))}${padded}`;
}
