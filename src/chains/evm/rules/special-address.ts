/** Addresses that no one has the key of, and that are used to destroy assets or by mistake. */
const BURN_ADDRESSES: ReadonlySet<string> = new Set([
  // The burn addresses with the largest balances in block explorers.
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000042069420694206942069',
  '0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead',
  // ERC-7528: stands for the native asset in the interfaces of contracts.
  '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
  '0xffffffffffffffffffffffffffffffffffffffff',
]);

/**
 * The ranges of precompiles and system contracts, both ends included. They count on every chain: no
 * one has a key of them anywhere.
 */
const SYSTEM_RANGES: readonly (readonly [bigint, bigint])[] = [
  // Precompiles: Ethereum from 0x1 on, Arbitrum from 0x64 on (Arbitrum docs, "Precompiles
  // reference"), RIP-7212 at 0x100, BSC and Polygon from 0x1000 on, ZKsync from 0x8000 on.
  [1n, 0xffffn],
  // The predeploys of the OP stack (OP Stack specification, "Predeploys").
  [0x4200000000000000000000000000000000000000n, 0x42000000000000000000000000000000000007ffn],
  // The reserved ranges of Avalanche (subnet-evm, precompile/modules/registerer.go).
  [0x0100000000000000000000000000000000000000n, 0x01000000000000000000000000000000000000ffn],
  [0x0200000000000000000000000000000000000000n, 0x02000000000000000000000000000000000000ffn],
  [0x0300000000000000000000000000000000000000n, 0x03000000000000000000000000000000000000ffn],
];

/** Finding the key of an address below this takes 2^128 tries, the whole strength of the curve. */
const LOWEST_WITH_KEY = 2n ** 32n;

/**
 * Returns what an address without a key is: a burn address, or a precompile or system contract of a
 * chain. Returns null for every other address and for text that is no EVM address.
 */
export function specialAddress(address: string): 'burn' | 'system' | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return null;
  if (BURN_ADDRESSES.has(address.toLowerCase())) return 'burn';
  const position = BigInt(address);
  if (SYSTEM_RANGES.some(([first, last]) => position >= first && position <= last)) return 'system';
  return position < LOWEST_WITH_KEY ? 'burn' : null;
}
