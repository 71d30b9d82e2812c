import type { CosignerPin } from '#domain/cosigner-pin.ts';
import type { HttpContext } from '#http/context.ts';
import type { FieldFault } from '#http/problem.ts';
import { cosignerIdentities } from '#nodes/cosigner-identities.ts';

/**
 * The fault of a policy whose keys are not those of the co-signers of now, or null. Co-signers refuse such a policy, so a vault
 * whose signers approved it would sign nothing any more. A co-signer that is away proves nothing: a policy that names the keys
 * again can then pass, and one that inherits them from the policy in force most likely is right.
 */
export async function pinnedKeysFault(
  context: HttpContext,
  pins: readonly CosignerPin[] | undefined,
): Promise<FieldFault | null> {
  if (pins === undefined || pins.length === 0) return null;
  const identities = await cosignerIdentities(context.env);
  if (identities === null) return null;
  const isSame =
    identities.length === pins.length &&
    identities.every(({ index, signing }, i) => pins[i]?.index === index && pins[i].signing === signing);
  const detail = 'are not the identity keys of the co-signers: name the keys of now, and verify their fingerprint';
  return isSame ? null : { pointer: '/cosigners', code: 'invalid', detail };
}
