import { bytesToHex } from '@noble/hashes/utils.js';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { type CosignerIdentity, signAsCosigner } from '#mpc/envelope.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { recoveryPackageBytes, SealDiffers, sealForRecovery } from '#mpc/recovery/package.ts';
import type { KeyShare } from '#mpc/share.ts';

/**
 * Returns a share, sealed for the recovery key and signed by this co-signer. The signature states
 * that the package opens. Refuses `seal-differs`.
 *
 * @param recoveryKey hex of 32 bytes
 */
export async function signedRecoveryPackage(
  own: CosignerIdentity,
  { recoveryKey, share }: { readonly recoveryKey: string; readonly share: KeyShare },
  seal: typeof sealForRecovery = sealForRecovery,
): Promise<Result<RecoveryPackage, Refused>> {
  try {
    const sealed = await seal(recoveryKey, share);
    const signature = await signAsCosigner(own, recoveryPackageBytes(sealed));
    return accepted({ ...sealed, signature: bytesToHex(signature) });
  } catch (error) {
    if (!(error instanceof SealDiffers)) throw error;
    const { keyId, epoch } = share;
    const line = { event: 'recovery-seal-differs', node: own.index, keyId, epoch, ...error.evidence };
    console.error(JSON.stringify(line));
    return refused(refusal('seal-differs'));
  }
}
