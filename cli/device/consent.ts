import { createInterface } from 'node:readline/promises';
import type { CosignerAgreement } from '#devices/cosigner-agreement.ts';
import type { Description } from '#review/describe-intent.ts';
import type { Fact } from '#review/fact.ts';
import { consentTo, optionsFor, parseExceptions, unnamed } from './cosigner-exception.ts';
import { factLines, reviewLines } from './review-lines.ts';

/** What a signer reads before a signature, and the answer. */

/** The options of a command that signs. */
export interface ConsentOptions {
  readonly 'despite-cosigner'?: readonly string[] | undefined;
  readonly yes?: boolean | undefined;
}

/** Throws that nothing was signed, with the reason. */
export function hold(holds: boolean, fault: string): asserts holds {
  if (!holds) throw new Error(`Not signed. ${fault}`);
}

/** Prints to standard error, since the result is on standard output. */
export function print(description: Description): void {
  for (const line of reviewLines(description)) console.error(line);
}

/** Prints the facts of a policy, as `print` does. */
export function printFacts(facts: readonly Fact[]): void {
  for (const line of facts.flatMap(factLines)) console.error(line);
}

/**
 * Asserts the consent of the signer, who names each co-signer that does not agree. With `--yes` the
 * options name them: a script that was written for agreement must not sign without it.
 */
export async function confirm(options: ConsentOptions, exceptions: readonly CosignerAgreement[]): Promise<void> {
  const open = unnamed(exceptions, parseExceptions(options['despite-cosigner'] ?? []));
  if (options.yes === true) {
    hold(open.length === 0, `Not all co-signers agree. Find the reason, or name them with ${optionsFor(open)}`);
    return;
  }
  const consent = consentTo(open);
  if (open.length > 0)
    console.error('! Not all co-signers agree. Ask the other signers whether the policy was changed.');
  // Line editing would write control sequences to the terminal.
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const answer = await terminal.question(`Sign this? Type ${consent}: `);
  terminal.close();
  hold(answer.trim() === consent, `The answer was not '${consent}'.`);
}
