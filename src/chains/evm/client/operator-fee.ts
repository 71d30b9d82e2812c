import { parseQuantity } from '#chains/evm/rules/hex.ts';

/** The fields of an OP-stack receipt about the operator's fee. */
export interface OperatorFeeTerms {
  readonly scalar: bigint;
  readonly constant: bigint;
  /**
   * True for the formula of Jovian, which counts the scalar in hundreds of wei, and not in
   * millionths.
   */
  readonly isJovian: boolean;
}

/**
 * Returns the operator's fee for used gas, in wei (OP stack, exec-engine of Isthmus and Jovian).
 */
export function operatorFeePaid(gasUsed: bigint, { scalar, constant, isJovian }: OperatorFeeTerms): bigint {
  return (isJovian ? gasUsed * scalar * 100n : (gasUsed * scalar) / 1_000_000n) + constant;
}

/**
 * Returns the operator's fee of a receipt, in wei; 0 for a receipt of another chain or from before
 * Isthmus, and null for an unreadable one. Receipts since Jovian have `daFootprintGasScalar`, which
 * no earlier one has.
 */
export function operatorFeeIn(receipt: Readonly<Record<string, unknown>>, gasUsed: bigint): bigint | null {
  const { operatorFeeScalar = null, operatorFeeConstant = null, daFootprintGasScalar = null } = receipt;
  const [scalar, constant] = [operatorFeeScalar, operatorFeeConstant].map((one) =>
    one === null ? 0n : parseQuantity(one),
  );
  if (scalar == null || constant == null) return null;
  return operatorFeePaid(gasUsed, { scalar, constant, isJovian: daFootprintGasScalar !== null });
}
