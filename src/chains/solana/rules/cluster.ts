/**
 * The local chain of the demo and the tests: the first 32 characters of its genesis hash, as CAIP-2
 * defines them (CAIP-30).
 */
export const LOCAL_CLUSTER = 'Conc1aveLoca11111111111111111111';

const SHAPE = /^solana:([1-9A-HJ-NP-Za-km-z]{32})$/;

/**
 * Returns the first 32 characters of a cluster's genesis hash from its CAIP-2 (CAIP-30); null for
 * any other text.
 */
export function clusterOf(caip2: string): string | null {
  return SHAPE.exec(caip2)?.[1] ?? null;
}
