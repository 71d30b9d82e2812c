import { invert, mod } from '@noble/curves/abstract/modular.js';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * Returns Lagrange's coefficient at zero: the shares of the parties, each times its coefficient,
 * add up to the secret. All inputs are public.
 *
 * @param parties distinct, this one among them
 * @param order of the group, a prime
 */
export function lagrangeAtZero(order: bigint, party: PartyIndex, parties: readonly PartyIndex[]): bigint {
  const others = parties.filter((other) => other !== party).map(BigInt);
  const [above, below] = others.reduce(
    ([up, down], other) => [mod(up * other, order), mod(down * (other - BigInt(party)), order)],
    [1n, 1n],
  );
  return mod(above * invert(below, order), order);
}
