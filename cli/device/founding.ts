import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import type { MandateDocument } from '#domain/policy/read-mandate.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { describeFounding } from '#review/describe-change.ts';
import type { ConsentOptions } from './consent.ts';
import { confirm, hold, print } from './consent.ts';
import { promptForPins } from './cosigner-pins.ts';
import type { PinFile } from './pin-file.ts';
import type { ScriptDevice } from './script-device.ts';

type FoundingOptions = ConsentOptions & Parameters<typeof promptForPins>[0];

/**
 * Shows the whole of the first policy in device mode, and asserts the consent of its signer. There
 * are no statements of co-signers about it: they take it only when every device in it has signed.
 * The signer confirms the keys of the co-signers instead, which the policy pins.
 */
export async function consentToFounding(
  options: FoundingOptions,
  { device, file }: { readonly device: ScriptDevice; readonly file: PinFile },
  change: { readonly mandate: MandateDocument; readonly next: Policy; readonly replaced: Policy | null },
): Promise<void> {
  const { mandate, next, replaced } = change;
  const own = device.keyId();
  hold(
    next.devices.some(({ keyId }) => keyId === own),
    'The policy does not contain this device. It would found a vault in which this device approves nothing.',
  );
  const known = file.read(next.vaultId);
  const isKnown =
    known !== null && next.cosigners !== undefined && fingerprintOf(known.cosigners) === fingerprintOf(next.cosigners);
  const { cosigners, threshold } = isKnown ? known : await promptForPins(options, next.cosigners ?? null);
  hold(
    threshold === next.signingThreshold,
    `The policy says that ${next.signingThreshold} co-signers sign together. You entered ${threshold}.`,
  );
  print(describeFounding(mandate, next, replaced));
  await confirm(options, []);
  // A later policy may be rejected, so only version 1 is certain to stay.
  if (replaced !== null) return;
  const policy = { version: next.version, hash: mandate.policyHash };
  file.write(next.vaultId, { cosigners, threshold, policy, keyIds: known?.keyIds ?? [] });
}
