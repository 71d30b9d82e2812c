import { getBlock } from '#chains/evm/client/rpc-calls.ts';
import { parseHash } from '#chains/evm/rules/hex.ts';
import type { BlockCalls } from '#chains/rpc/absence-check.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

const getHead = getBlock('latest');

export const BLOCK_CALLS: BlockCalls = {
  getHash: (number) => {
    const call = getBlock(number);
    return { ...call, read: (answer) => (answer === null ? null : call.read(answer)?.hash) };
  },
  getTransactionHashes: ({ number, hash }) => ({
    ...getBlock(BigInt(number)),
    read: (answer) => (answer === null ? null : readTransactionHashes(answer, hash)),
  }),
  getHead: { ...getHead, read: (answer) => getHead.read(answer)?.number },
  skipsNumbers: false,
};

/** Returns null when another block has replaced the one with this hash. */
function readTransactionHashes(block: unknown, hash: string): readonly string[] | null | undefined {
  if (!isJsonObject(block) || !Array.isArray(block['transactions'])) return undefined;
  if (parseHash(block['hash']) !== hash) return null;
  const read = block['transactions'].map((one: unknown) => parseHash(one));
  return read.includes(null) ? undefined : read.flatMap((one) => one ?? []);
}
