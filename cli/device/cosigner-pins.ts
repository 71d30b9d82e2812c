import { createInterface } from 'node:readline/promises';
import * as z from 'zod';
import { fingerprintOf, isFingerprintOf } from '#devices/pin-fingerprint.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { arePins } from '#domain/access/cosigner-pin.ts';
import { minSigners } from '#mpc/party.ts';
import { UsageError } from '../command-line.ts';

const identity = z.object({ index: z.int(), signing: z.string() });

/** The input of a signer about the co-signers. */
interface Entered {
  readonly cosigner?: readonly string[] | undefined;
  readonly fingerprint?: string | undefined;
  readonly threshold?: string | undefined;
}

/**
 * Returns the identity keys that co-signers publish at these addresses. Throws when they are not
 * all co-signers in order.
 */
export async function identitiesAt(urls: readonly string[]): Promise<CosignerPin[]> {
  const pins = await Promise.all(
    urls.map(async (url) => {
      const response = await fetch(`${url.replace(/\/$/, '')}/identity`, { redirect: 'error' });
      const { index, signing } = identity.parse(await response.json());
      return { index, signing };
    }),
  );
  if (!arePins(pins))
    throw new UsageError('Give the address of every co-signer as --cosigner, in the order of their numbers.');
  return pins;
}

/**
 * Returns the pins that a signer confirms, and how many co-signers must agree. The source of the
 * keys does not matter, since the fingerprint decides: the signer has it from the operators of the
 * co-signers, and not from this service.
 *
 * The threshold is the number of co-signers that sign together. The fingerprint does not cover it,
 * so the signer enters it, from the same source as the fingerprint. It has no default: a lower
 * number than the real one lets fewer hostile co-signers convince the device. The device refuses a
 * policy that names another number.
 *
 * @param published the keys that the policy in force names; null for none
 */
export async function promptForPins(
  entered: Entered,
  published: readonly CosignerPin[] | null,
): Promise<{ readonly cosigners: CosignerPin[]; readonly threshold: number }> {
  const cosigners = entered.cosigner === undefined ? [...(published ?? [])] : await identitiesAt(entered.cosigner);
  if (!arePins(cosigners))
    throw new UsageError('The policy names no co-signers. Give the address of every co-signer as --cosigner.');
  const threshold = thresholdOf(entered.threshold, cosigners.length);
  for (const { index, signing } of cosigners) console.error(`Co-signer ${index}: ${signing}`);
  console.error(`Fingerprint: ${fingerprintOf(cosigners)}`);
  const typed = entered.fingerprint ?? (await typedFingerprint());
  if (!isFingerprintOf(typed, cosigners)) {
    throw new Error(
      'Not pinned. The fingerprint does not match these keys. Do not continue before you know the reason.',
    );
  }
  return { cosigners, threshold };
}

/**
 * Returns the entered number of co-signers that sign together. Throws `UsageError` when it is
 * absent or impossible.
 */
export function thresholdOf(text: string | undefined, count: number): number {
  const fewest = minSigners(count);
  if (text === undefined) {
    throw new UsageError(
      'Option --threshold is missing. It is the number of co-signers that sign together: the signingThreshold that ' +
        'the vault was created with. Ask the operators of the co-signers, not the service.',
    );
  }
  const threshold = /^[0-9]$/.test(text) ? Number.parseInt(text, 10) : 0;
  if (threshold < fewest || threshold > count)
    throw new UsageError(`Option --threshold must be from ${fewest} to ${count}.`);
  return threshold;
}

async function typedFingerprint(): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Type the fingerprint that the operators of the co-signers gave you: ');
  terminal.close();
  return answer;
}
