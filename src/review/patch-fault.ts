import { MAX_DEVICES } from '#domain/access/device.ts';
import type { PolicyPatchFault } from '#domain/vault/next-policy.ts';
import { MAX_RULES } from '#domain/policy/rules.ts';

/** The field of a policy change that causes a fault, as a JSON pointer, with a text for people. */
export const PATCH_FAULTS: Readonly<Record<PolicyPatchFault, readonly [pointer: string, detail: string]>> = {
  'version-out-of-range': ['', 'The version must be at least 1.'],
  'no-signers': ['/signers', 'Must not be empty.'],
  'too-many-signers': ['/signers', 'There are too many signers.'],
  'signers-not-sorted': ['/signers', 'Must not contain a signer twice.'],
  'threshold-out-of-range': ['/threshold', 'Must be from 1 to the number of signers.'],
  'signing-threshold-out-of-range': ['/cosigners', 'The vault needs more than half of its co-signers to sign.'],
  'too-many-devices': ['/addDevices', `A policy can have at most ${MAX_DEVICES} devices, including existing ones.`],
  'devices-not-sorted': ['/addDevices', 'Must not contain a device twice, or a device that the policy already has.'],
  'device-of-nobody': ['/addDevices', 'Must not contain a device of a user who is not a signer.'],
  'new-signer-in-first-device-policy': [
    '/signers',
    'Add the signer in another change: each signer approves the change to device mode with a device.',
  ],
  'token-mode-before-founding': [
    '/approvalMode',
    'A vault that is being founded stays in device mode. Create another vault for the mode token.',
  ],
  'signer-without-device': ['/approvalMode', 'Device mode requires a device for each signer.'],
  'required-device-missing': [
    '/requiredDevice',
    'The value ed25519 requires the mode device and a signer with an Ed25519 device.',
  ],
  'cosigners-malformed': ['/cosigners', 'Must list co-signers 1 to n in order, each with its own key.'],
  'no-such-device': ['/removeDevices', 'Must not refer to an unknown device.'],
  'device-changed': ['/addDevices', 'Must not change a device in force. Remove it first, in a change of its own.'],
  'too-many-rules': ['/addressBook', `Every list of rules can have at most ${MAX_RULES} entries.`],
  'rules-not-in-order': ['/addressBook', 'A list of rules must not contain a duplicate.'],
  'limit-without-a-bound': ['/limits', 'Every limit must have perTransaction or perDay.'],
  'token-out-of-range': ['/tokens', 'Every token must have a symbol, and decimals that a token can have.'],
  'rejections-out-of-range': ['/rejections', 'Must be from 1 to the number of signers.'],
  'excluded-signer': ['/excludedMembers', 'Must not contain a signer.'],
  'step-out-of-range': [
    '/higherThresholds',
    'Thresholds, including unreadableThreshold, must be from 1 to the number of signers.',
  ],
};
