/** A Wycheproof file, trimmed as README.md describes. */
export interface WycheproofFile {
  readonly kept: number;
  readonly groups: readonly { readonly publicKey: string; readonly tests: readonly (readonly (string | number)[])[] }[];
}

export interface WycheproofCase {
  /** The number, the flags and the comment of the case upstream. */
  readonly name: string;
  readonly flags: string;
  readonly isValid: boolean;
  /** The fields below are hex. */
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

/** Returns the cases of a file, whose columns have the order that its header names. */
export function casesOf({ groups }: WycheproofFile): readonly WycheproofCase[] {
  return groups.flatMap(({ publicKey, tests }) =>
    tests.map(([tcId, result, flags, comment, message, signature]) => ({
      name: `${tcId} ${flags}: ${comment}`,
      flags: String(flags),
      isValid: result === 'valid',
      publicKey,
      message: String(message),
      signature: String(signature),
    })),
  );
}
