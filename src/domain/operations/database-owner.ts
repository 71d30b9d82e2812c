import type { Alert } from '#domain/operations/alert.ts';

/**
 * The database has the fingerprints of the keys of the deployment that writes it. A deployment with
 * other keys has the database of another one, or has lost its keys.
 */

/** Reports whether a deployment has any of the keys with which the database was written. */
export function ownsDatabase(written: readonly string[] | null, own: readonly string[]): boolean {
  return written === null || own.some((fingerprint) => written.includes(fingerprint));
}

/**
 * Returns the alert of a database of another deployment.
 *
 * @param written the fingerprints in the database; null before the first
 * @param own the fingerprints of the deployment; empty when its setting is refused
 */
export function alertsOfDatabase(written: readonly string[] | null, own: readonly string[]): readonly Alert[] {
  if (own.length === 0 || ownsDatabase(written, own)) return [];
  return [
    {
      code: 'foreign-database',
      detail:
        'D1 was written with other keys than those of TOKEN_MAC_KEY: DB names the database of another deployment, or ' +
        'the keys were replaced.',
    },
  ];
}
