/** Returns every choice of `size` co-signers, in order. */
export function signerGroups<T>(cosigners: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  return cosigners.flatMap((cosigner, i) =>
    signerGroups(cosigners.slice(i + 1), size - 1).map((rest) => [cosigner, ...rest]),
  );
}
