/** A trimmed file of Wycheproof's: see README.md. */
export interface WycheproofFile {
  readonly kept: number;
  readonly groups: readonly { readonly publicKey: string; readonly tests: readonly (readonly (string | number)[])[] }[];
}

export interface WycheproofCase {
  /** Its number, flags and comment upstream. */
  readonly name: string;
  readonly flags: string;
  readonly isValid: boolean;
  /** Hex, as the two below. */
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}

/** Returns the cases of a file, with the column order that its head names. */
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
