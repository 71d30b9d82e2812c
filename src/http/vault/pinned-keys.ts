import type { CosignerPin } from '#domain/policy/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { ObjectUnavailable } from '#http/edge/object-call.ts';
import type { FieldFault } from '#http/encode/problem.ts';
import { cosignerIdentities } from '#cosigner-client/identities.ts';

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
  const detail = 'Must be the current identity keys of the co-signers. Verify their fingerprint.';
  return isSame ? null : { pointer: '/cosigners', code: 'invalid', detail };
}

/**
 * The identity keys of the co-signers, which a vault in device mode names unless its author decides
 * otherwise. A co-signer that is away ends the request: without the keys the signers could verify no
 * statement. Throws `ObjectUnavailable`.
 */
export async function fetchPins(context: HttpContext): Promise<readonly CosignerPin[]> {
  const pins = await cosignerIdentities(context.env);
  if (pins === null) throw new ObjectUnavailable('a co-signer gives no identity');
  return pins;
}

/**
 * The identity keys that a change adds because it moves a vault from token mode to device mode, as
 * the creation of a vault in device mode does. Adds none where the body names them or is null there,
 * where the policy in force names them, and for every other change: those keep what the policy has.
 * Throws `ObjectUnavailable`.
 */
export async function pinsForChange(
  context: HttpContext,
  body: { readonly approvalMode?: Policy['approvalMode'] | undefined; readonly cosigners?: unknown },
  inForce: Policy | undefined,
): Promise<{ readonly cosigners?: readonly CosignerPin[] }> {
  const turnsToDevices = body.approvalMode === 'device' && inForce?.approvalMode === 'token';
  const isNamed = body.cosigners !== undefined || inForce?.cosigners !== undefined;
  return turnsToDevices && !isNamed ? { cosigners: await fetchPins(context) } : {};
}
