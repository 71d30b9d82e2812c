import { DECIMALS_SELECTOR } from '#chains/evm/rules/call.ts';
import { canonicalAddress } from '#chains/evm/rules/address.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { readContract } from '#chains/evm/client/rpc-calls.ts';
import type { FeedRound } from '#domain/asset/price.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** First four bytes of keccak256('latestRoundData()'), Chainlink's AggregatorV3Interface. */
const LATEST_ROUND_SELECTOR = '0xfeaf968c';

const WORD_DIGITS = 64;
const INT256_SIGN = 1n << 255n;

/** Returns the newest answer of a feed. The caller decides whether it is usable. */
export async function readFeed(node: RpcNode, feed: string): Promise<Result<FeedRound, NodeProblem>> {
  const to = canonicalAddress(feed);
  if (to === null) return refused({ kind: 'unusable', detail: 'a feed is a contract' });
  const [round, decimals] = await Promise.all([
    node.request(readContract(to, LATEST_ROUND_SELECTOR)),
    node.request(readContract(to, DECIMALS_SELECTOR)),
  ]);
  if (!round.ok) return round;
  if (!decimals.ok) return decimals;
  if (round.value.length !== 2 + 5 * WORD_DIGITS || decimals.value.length !== 2 + WORD_DIGITS) {
    return refused({ kind: 'unusable', detail: 'The contract is not a price feed.' });
  }
  const words = Array.from({ length: 5 }, (_word, i) => {
    return BigInt(`0x${round.value.slice(2 + i * WORD_DIGITS, 2 + (i + 1) * WORD_DIGITS)}`);
  });
  const [roundId = 0n, answer = 0n, startedAt = 0n, updatedAt = 0n, answeredInRound = 0n] = words;
  return accepted({
    answer: answer >= INT256_SIGN ? answer - 2n * INT256_SIGN : answer,
    decimals: BigInt(decimals.value),
    startedAt,
    updatedAt,
    isOfItsRound: answeredInRound >= roundId,
  });
}
