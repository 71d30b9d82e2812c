import { getAddressEncoder } from '@solana/kit';
import type { TokenMetadata } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { mintIn } from '#chains/solana/client/accounts.ts';
import { metadataIn } from '#chains/solana/client/token-extensions.ts';
import { derivedAddress, isPublicKey } from '#chains/solana/rules/address.ts';
import { untrustedText } from '#chains/untrusted-text.ts';
import { getAccounts } from '#chains/solana/client/rpc-calls.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** Metaplex Token Metadata, which holds the names of nearly every token. */
const METADATA_PROGRAM = 'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s';

/**
 * The layout of its account: kind (4, of version 1), authority, mint, then name and symbol as texts
 * with their lengths, padded with zeros.
 */
const METADATA_KIND = 4;
const NAME_OFFSET = 1 + 32 + 32;
const MAX_TEXT_LENGTH = 64;

/** The metadata in a mint of Token-2022: update authority and mint, then the same texts. */
const OWN_NAME_OFFSET = 32 + 32;

/** Returns what a token reports of itself; null for a value that it does not report. */
export async function readToken(node: RpcNode, address: string): Promise<Result<TokenMetadata, NodeProblem>> {
  if (!isPublicKey(address) || !isPublicKey(METADATA_PROGRAM)) return accepted(NOTHING);
  const encode = (one: typeof address) => Uint8Array.from(getAddressEncoder().encode(one));
  const seeds = [new TextEncoder().encode('metadata'), encode(METADATA_PROGRAM), encode(address)];
  const accounts = await node.request(getAccounts([address, derivedAddress(seeds, METADATA_PROGRAM)]));
  if (!accounts.ok) return accounts;
  const [mint = null, metadata = null] = accounts.value.value;
  const decimals = mintIn(mint)?.decimals ?? null;
  const own = mint === null ? null : metadataIn(mint);
  if (own !== null) return accepted({ ...textsAt(own, OWN_NAME_OFFSET), decimals });
  if (metadata?.owner !== METADATA_PROGRAM || metadata.data[0] !== METADATA_KIND) {
    return accepted({ ...NOTHING, decimals });
  }
  return accepted({ ...textsAt(metadata.data, NAME_OFFSET), decimals });
}

function textsAt(data: Uint8Array, offset: number): Pick<TokenMetadata, 'name' | 'symbol'> {
  const name = textAt(data, offset);
  const symbol = name === null ? null : textAt(data, name.end);
  return { name: name?.text ?? null, symbol: symbol?.text ?? null };
}

const NOTHING: TokenMetadata = { symbol: null, name: null, decimals: null };

/** Returns a Borsh string, which is untrusted. */
function textAt(data: Uint8Array, slot: number): { readonly text: string | null; readonly end: number } | null {
  if (slot + 4 > data.length) return null;
  const length = new DataView(data.buffer, data.byteOffset).getUint32(slot, true);
  const [start, end] = [slot + 4, slot + 4 + length];
  if (length > 1_000 || end > data.length) return null;
  return { text: untrustedText(data.subarray(start, end), MAX_TEXT_LENGTH), end };
}
