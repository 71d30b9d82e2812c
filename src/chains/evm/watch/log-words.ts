import type { Hex } from 'viem';
import { getAddress } from 'viem/utils';

/** Returns the 32-byte words of log data; null for data that is not whole words. */
export function wordsOf(data: Hex): readonly bigint[] | null {
  const digits = data.slice(2);
  if (digits.length % 64 !== 0) return null;
  return Array.from({ length: digits.length / 64 }, (_, i) => BigInt(`0x${digits.slice(i * 64, (i + 1) * 64)}`));
}

/** Returns null for the zero address, which stands for minting and burning. */
export function partyOf(topic: Hex): string | null {
  const address = `0x${topic.slice(-40)}` as const;
  return /^0x0{40}$/.test(address) ? null : getAddress(address);
}
