import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import type { SigningKeys } from '../peers-file.ts';
import { publicHalf } from './key-file.ts';
import { openRecovery } from './rebuild-key.ts';
import { isSignedPackage, termFaults } from './terms.ts';
import type { Verified } from './verify.ts';
import { walletsOf } from './wallets.ts';

interface Terms {
  readonly signingKeys: SigningKeys;
  /** CAIP-2 */
  readonly chains: readonly string[];
}

/**
 * Opens the packages that are sealed for one recovery key, and returns a line for each that opens,
 * without its share. Faults: no package of a key is for this recovery key, a co-signer shares the
 * recovery key with another one, and each package that is not signed, does not open, or has terms
 * with a fault.
 *
 * @param recoverySecret hex of 32 bytes
 */
export async function checkedPackages(
  recoverySecret: string,
  packages: readonly RecoveryPackage[],
  { signingKeys, chains }: Terms,
): Promise<Verified> {
  const recoveryKey = publicHalf(recoverySecret);
  const own = packages.filter((one) => one.recoveryKey === recoveryKey);
  if (own.length === 0) {
    const hint = 'RECOVERY_KEY of the co-signer may be mistyped';
    return { lines: [], faults: [`No package is sealed for the recovery key ${recoveryKey}: ${hint}.`] };
  }
  const lines: string[] = [];
  const faults: string[] = [];
  const nodes = [...new Set(own.map(({ node }) => node))].toSorted((a, b) => a - b);
  if (nodes.length > 1)
    faults.push(`The co-signers ${nodes.join(' and ')} share this recovery key: each needs one of its own.`);
  const keyIds = new Set(packages.map(({ keyId }) => keyId));
  const absent = [...keyIds].filter((keyId) => !own.some((one) => one.keyId === keyId));
  faults.push(...absent.map((keyId) => `${keyId}: no package is sealed for this recovery key`));
  for (const one of own) {
    const name = `key ${one.keyId}, co-signer ${one.node}, epoch ${one.epoch}`;
    const found = [...termFaults(one)];
    if (!isSignedPackage(one, signingKeys)) found.push('not-signed-by-the-co-signer');
    const share = await openRecovery(recoverySecret, one);
    if (typeof share === 'string') found.push(share);
    else share.wipe();
    if (found.length > 0) faults.push(...found.map((fault) => `${name}: ${fault}`));
    else lines.push(`opens: ${name}`, ...walletsOf(one, chains).map(({ chain, address }) => `  ${chain} ${address}`));
  }
  return { lines, faults };
}
