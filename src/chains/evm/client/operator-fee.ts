import { parseQuantity } from '#chains/evm/rules/hex.ts';

/** What a receipt of the OP stack says of the operator's fee. */
export interface OperatorFeeTerms {
  readonly scalar: bigint;
  readonly constant: bigint;
  /** By the formula of Jovian, which counts the scalar in hundreds of wei, and not in millionths. */
  readonly isJovian: boolean;
}

/** What the operator is paid for gas that was used, in wei (OP stack, exec-engine of Isthmus and Jovian). */
export function operatorFeePaid(gasUsed: bigint, { scalar, constant, isJovian }: OperatorFeeTerms): bigint {
  return (isJovian ? gasUsed * scalar * 100n : (gasUsed * scalar) / 1_000_000n) + constant;
}

/**
 * The operator's fee that a receipt names, in wei; 0 for one of another chain or of before Isthmus, and null for one that cannot be
 * read. Receipts since Jovian have `daFootprintGasScalar`, which no earlier one has.
 */
export function operatorFeeIn(receipt: Readonly<Record<string, unknown>>, gasUsed: bigint): bigint | null {
  const { operatorFeeScalar = null, operatorFeeConstant = null, daFootprintGasScalar = null } = receipt;
  const [scalar, constant] = [operatorFeeScalar, operatorFeeConstant].map((one) =>
    one === null ? 0n : parseQuantity(one),
  );
  if (scalar == null || constant == null) return null;
  return operatorFeePaid(gasUsed, { scalar, constant, isJovian: daFootprintGasScalar !== null });
}
