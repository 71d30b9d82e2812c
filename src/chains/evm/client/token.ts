import { hexToBytes } from '@noble/hashes/utils.js';
import { DECIMALS_SELECTOR } from '#chains/evm/rules/call.ts';
import type { TokenMetadata } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { readContract } from '#chains/evm/client/rpc-calls.ts';
import { untrustedText } from '#chains/untrusted-text.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import { canonicalAddress } from '#chains/evm/rules/address.ts';

/** First four bytes of keccak256('symbol()') and 'name()'. */
const SYMBOL_SELECTOR = '0x95d89b41';
const NAME_SELECTOR = '0x06fdde03';

const MAX_TEXT_LENGTH = 64;
const MAX_DECIMALS = 77n;

/**
 * Returns what a token reports of itself; null for a value that it does not report, or not in a
 * known format.
 */
export async function readToken(node: RpcNode, address: string): Promise<Result<TokenMetadata, NodeProblem>> {
  const to = canonicalAddress(address);
  if (to === null) return accepted({ symbol: null, name: null, decimals: null });
  const [symbol, name, decimals] = await Promise.all([
    node.request(readContract(to, SYMBOL_SELECTOR)),
    node.request(readContract(to, NAME_SELECTOR)),
    node.request(readContract(to, DECIMALS_SELECTOR)),
  ]);
  for (const answer of [symbol, name, decimals]) {
    if (!answer.ok && answer.refusal.kind === 'no-answer') return answer;
  }
  return accepted({
    symbol: symbol.ok ? textOf(symbol.value) : null,
    name: name.ok ? textOf(name.value) : null,
    decimals: decimals.ok ? decimalsOf(decimals.value) : null,
  });
}

/**
 * Returns the text of an ABI string, or of 32 bytes as in some old tokens (MKR). The text is
 * untrusted: it is truncated and loses characters that reorder or hide others.
 */
function textOf(answer: string): string | null {
  const bytes = hexToBytes(answer.slice(2));
  if (bytes.length === 32) return untrustedText(bytes, MAX_TEXT_LENGTH);
  if (bytes.length < 64) return null;
  const [offset, length] = [wordAt(bytes, 0), wordAt(bytes, 32)];
  if (offset !== 32n || length > BigInt(bytes.length - 64)) return null;
  return untrustedText(bytes.subarray(64, 64 + Number(length)), MAX_TEXT_LENGTH);
}

function decimalsOf(answer: string): number | null {
  if (answer.length !== 66) return null;
  const decimals = BigInt(answer);
  return decimals > MAX_DECIMALS ? null : Number.parseInt(decimals.toString(), 10);
}

function wordAt(bytes: Uint8Array, start: number): bigint {
  return bytes.subarray(start, start + 32).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
