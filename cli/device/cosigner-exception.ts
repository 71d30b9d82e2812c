import type { CosignerAgreement } from '#devices/cosigner-agreement.ts';
import { AGREEMENTS } from '#devices/cosigner-agreement.ts';
import { UsageError } from '../command-line.ts';

/**
 * Co-signers that the signer names before the device signs although they do not agree, as
 * `--despite-cosigner 3:unknown`. The name includes the agreement: a script that continues without
 * an unreachable co-signer stops when the same co-signer states a later policy.
 */

/** Returns the named exceptions. Throws `UsageError` for a name of another form. */
export function parseExceptions(texts: readonly string[]): ReadonlySet<string> {
  const form = new RegExp(`^[1-9]:(${AGREEMENTS.filter((one) => one !== 'agrees').join('|')})$`);
  const malformed = texts.find((text) => !form.test(text));
  if (malformed !== undefined) {
    throw new UsageError(`Option --despite-cosigner must have a form such as 3:unknown, not '${malformed}'.`);
  }
  return new Set(texts);
}

/** Returns the co-signers that the signer has not named yet. */
export function unnamed(
  exceptions: readonly CosignerAgreement[],
  named: ReadonlySet<string>,
): readonly CosignerAgreement[] {
  return exceptions.filter((one) => !named.has(nameOf(one)));
}

/** Returns the options that name these co-signers. */
export function optionsFor(exceptions: readonly CosignerAgreement[]): string {
  return [...new Set(exceptions.map((one) => `--despite-cosigner ${nameOf(one)}`))].join(' ');
}

/** Returns the text that the signer types to sign although these co-signers do not agree. */
export function consentTo(exceptions: readonly CosignerAgreement[]): string {
  const numbers = [...new Set(exceptions.map(({ cosigner }) => cosigner))].toSorted((a, b) => a - b);
  return numbers.length === 0 ? 'yes' : `yes despite ${numbers.join(' ')}`;
}

function nameOf({ cosigner, agreement }: CosignerAgreement): string {
  return `${cosigner}:${agreement}`;
}
