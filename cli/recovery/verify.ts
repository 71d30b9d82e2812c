import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { isRecoveryKey } from '#mpc/recovery/package.ts';
import type { SigningKeys } from '../peers-file.ts';
import type { Candidate } from './terms.ts';
import { candidatesOf, differences, isAgreed, isSignedPackage, termFaults } from './terms.ts';
import type { ExpectedWallets } from './wallets.ts';
import { missingAddresses, walletsOf } from './wallets.ts';

/** What the operator of an export knows without the service. */
export interface Expected {
  readonly signingKeys: SigningKeys;
  /** Co-signer number to its recovery key in hex; null when they are not compared. */
  readonly recoveryKeys: ReadonlyMap<number, string> | null;
  readonly wallets: ExpectedWallets;
}

export interface Verified {
  /** One line for each key, and one for each wallet of it on the expected chains. */
  readonly lines: readonly string[];
  /** A text for each fault, with the key and the co-signer. A right export has none. */
  readonly faults: readonly string[];
}

/** Compares the packages of an export with each other and with what is expected. */
export function verifiedPackages(packages: readonly RecoveryPackage[], expected: Expected): Verified {
  const keys = [...Map.groupBy(packages, ({ keyId }) => keyId)].map(([keyId, all]) => {
    const candidates = candidatesOf(all, expected.signingKeys);
    const agreed = candidates[0]?.packages[0];
    const wallets =
      agreed === undefined || termFaults(agreed).length > 0 ? [] : walletsOf(agreed, expected.wallets.chains);
    return { keyId, agreed, wallets, faults: keyFaults(keyId, { all, candidates }, expected) };
  });
  const empty = packages.length === 0 ? ['The files have no packages.'] : [];
  const missing = missingAddresses(
    expected.wallets,
    keys.flatMap(({ wallets }) => wallets),
  );
  const lines = keys.flatMap(({ keyId, agreed, wallets }) => [
    `${keyId}: ${agreed?.scheme}, epoch ${agreed?.epoch}, ` +
      `${agreed?.threshold} of ${Object.keys(agreed?.publicShares ?? {}).length} co-signers`,
    ...wallets.map(({ chain, address }) => `  ${chain} ${address}`),
  ]);
  return { lines, faults: [...empty, ...keys.flatMap(({ faults }) => faults), ...missing] };
}

interface KeyPackages {
  readonly all: readonly RecoveryPackage[];
  readonly candidates: readonly Candidate[];
}

function keyFaults(keyId: string, { all, candidates }: KeyPackages, expected: Expected): readonly string[] {
  const { signingKeys, recoveryKeys } = expected;
  const [agreed] = candidates;
  if (agreed === undefined) return [];
  const [first] = agreed.packages;
  const of = (node: number | string) => `${keyId}, co-signer ${node}: `;
  const faults = termFaults(first).map((fault) => `${keyId}: ${fault}, as ${namesOf(agreed)} state`);
  if (!isAgreed(agreed)) {
    const { length } = agreed.signers;
    faults.push(`${keyId}: ${length} co-signers signed the same terms, but ${first.threshold} are required`);
  }
  for (const [node, own] of Map.groupBy(all, ({ node: one }) => one)) {
    if (own.length > 1) faults.push(`${of(node)}${own.length} packages`);
    if (first.publicShares[String(node)] === undefined) faults.push(`${of(node)}it has no public share`);
  }
  const holders = new Set(Object.keys(first.publicShares).map((name) => Number.parseInt(name, 10)));
  const absent = [...holders].filter((node) => !all.some((one) => one.node === node));
  faults.push(...absent.map((node) => `${of(node)}no package`));
  for (const one of all) {
    const differing = differences(one, first);
    if (differing !== '') faults.push(`${of(one.node)}states another ${differing} than ${namesOf(agreed)}`);
    if (!isSignedPackage(one, signingKeys)) faults.push(`${of(one.node)}not signed by the co-signer`);
    if (!isRecoveryKey(one.recoveryKey))
      faults.push(`${of(one.node)}the recovery key has a small order, or is not canonical`);
    if (recoveryKeys !== null && recoveryKeys.get(one.node) !== one.recoveryKey)
      faults.push(`${of(one.node)}sealed for another recovery key`);
  }
  return faults;
}

function namesOf({ packages: [first], signers }: Candidate): string {
  return signers.length === 0 ? `co-signer ${first.node}` : `co-signers ${signers.join(', ')}`;
}
