import type { Holdings, Reading } from '#chains/chain-client.ts';
import { covered } from '#chains/rpc/holdings-quorum.ts';

/** Returns the units of each reading, or the state of a reading without units. */
export function unitsIn({ readings }: Pick<Holdings, 'readings'>): readonly string[] {
  return readings.map((reading) => (reading.state === 'covered' ? reading.units : reading.state));
}

export type Stated = bigint | 'no-balance' | 'not-read';

/** Returns what a chain states about assets at one block. */
export function holdingsAt(block: number, stated: readonly Stated[], isDisputed = false): Holdings {
  const blockNumber = String(block);
  const readings = stated.map((one): Reading => {
    return typeof one === 'bigint' ? covered(one, BigInt(block)) : { state: one };
  });
  return { blockNumber, readings, isDisputed };
}
