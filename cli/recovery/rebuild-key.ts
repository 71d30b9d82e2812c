import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { Group, GroupPoint } from '#mpc/group.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { lagrangeAtZero } from '#mpc/lagrange.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { RECOVERY_SUITE, RECOVERY_VERSION, recoveryHeader } from '#mpc/recovery/package.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';
import { groupsOf } from './terms.ts';

/** Code for a machine without a network only: it opens the shares of a key, and combines them. */

/** The reason why a package yields no share. */
export type RecoveryFault = 'not-a-package' | 'no-shared-secret' | 'does-not-open' | 'not-its-public-share';

/**
 * Returns the share in a package, after a check against its public share. @param recoverySecret hex
 * of 32 bytes
 */
export async function openRecovery(
  recoverySecret: string,
  sealed: RecoveryPackage,
): Promise<SecretScalar | RecoveryFault> {
  const point = sealed.publicShares[String(sealed.node)];
  if (sealed.version !== RECOVERY_VERSION || point === undefined) return 'not-a-package';
  const recipientKey = await RECOVERY_SUITE.kem.importKey('raw', owned(hexToBytes(recoverySecret)), false);
  const enc = owned(hexToBytes(sealed.encapsulated));
  const context = { recipientKey, enc, info: recoveryHeader(sealed) };
  // An encapsulated key of small order gives no secret.
  const recipient = await RECOVERY_SUITE.createRecipientContext(context).catch(() => null);
  if (recipient === null) return 'no-shared-secret';
  const opened = await recipient.open(owned(hexToBytes(sealed.ciphertext))).catch(() => null);
  if (opened === null) return 'does-not-open';
  const scalar = new Uint8Array(opened);
  return inGroupOf(sealed.scheme, (group) => {
    const secret = group.secrets.parse(scalar);
    const isBehind = secret !== null && !group.secrets.isZero(secret) && isSecretOf(group, secret, hexToBytes(point));
    return isBehind ? secret : 'not-its-public-share';
  });
}

/**
 * Returns the whole secret of a key from the shares of as many co-signers as its threshold, or null
 * when there are fewer, or when no group of them yields the key that they name. It is only for an
 * offline machine: a holder of the secret needs no approval.
 */
export function rebuiltSecret(
  { scheme, threshold, publicKey }: Pick<RecoveryPackage, 'scheme' | 'threshold' | 'publicKey'>,
  shares: ReadonlyMap<PartyIndex, SecretScalar>,
): SecretScalar | null {
  return inGroupOf(scheme, (group) => {
    const { secrets } = group;
    for (const used of groupsOf([...shares], threshold)) {
      const parties = used.map(([party]) => party);
      const secret = used.reduce((total, [party, share]) => {
        const weight = secrets.of(lagrangeAtZero(group.order, party, parties));
        return secrets.multiplyAdd(weight, share, total);
      }, secrets.of(0n));
      if (!secrets.isZero(secret) && isSecretOf(group, secret, hexToBytes(publicKey))) return secret;
    }
    return null;
  });
}

export function isSecretOf<P extends GroupPoint<P>>(group: Group<P>, secret: SecretScalar, point: Uint8Array): boolean {
  return bytesToHex(group.encodePoint(group.multiplyGenerator(secret))) === bytesToHex(point);
}

function owned(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
