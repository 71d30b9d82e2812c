/**
 * Returns the EIP-155 chain id of a CAIP-2 name (`eip155:8453` gives 8453), or null: at most 32
 * characters, no leading zero.
 */
export function chainIdOf(caip2: string): bigint | null {
  const match = /^eip155:([1-9][0-9]{0,31})$/.exec(caip2);
  return match?.[1] === undefined ? null : BigInt(match[1]);
}
