import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { ObjectUnavailable } from '#http/edge/object-call.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { cosignerIdentities } from '#cosigner-client/identities.ts';

/**
 * Returns the fault of a policy whose identity keys are not the current ones of the co-signers, or
 * null. Co-signers refuse such a policy, so a vault that adopted it could no longer sign. When a
 * co-signer is unreachable, the keys cannot be compared and the result is null. A policy that names
 * keys explicitly then passes unchecked; one that inherits them from the policy in force is most
 * likely correct.
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
 * Returns the identity keys of the co-signers. A vault in device mode pins them unless its author
 * decides otherwise. An unreachable co-signer fails the request, because the signers could verify
 * no statement without the keys. Throws `ObjectUnavailable`.
 */
export async function fetchPins(context: HttpContext): Promise<readonly CosignerPin[]> {
  const pins = await cosignerIdentities(context.env);
  if (pins === null) throw new ObjectUnavailable('a co-signer gives no identity');
  return pins;
}

/**
 * Returns the identity keys that a policy change adds because it moves a vault from token mode to
 * device mode, as the creation of a vault in device mode does. Returns none when the body names
 * them or sets them to null, when the policy in force names them, and for every other change, which
 * keeps the keys of the policy. Throws `ObjectUnavailable`.
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
