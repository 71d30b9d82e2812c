import type { Alert } from '#domain/operations/alert.ts';

/** Why a share cannot be used. */
export const SHARE_FAULTS = ['missing', 'unreadable', 'too-old'] as const;

/** What a co-signer found when it opened its share of one key. */
export interface TestedShare {
  readonly keyId: string;
  /** The epoch of the share in use; null without one. */
  readonly epoch: number | null;
  /** By the clock of the co-signer, in Unix milliseconds; null without a share. */
  readonly madeAtMs: number | null;
  /**
   * - `missing`: it has no share in use.
   * - `unreadable`: its secrets do not open the share.
   * - `too-old`: its operator excludes shares of that time (SHARES_SINCE).
   */
  readonly fault: (typeof SHARE_FAULTS)[number] | null;
}

/** What a co-signer states about its settings and about some of its shares. */
export interface CosignerTest {
  /** Milliseconds by which its clock is ahead of the clock of the coordinator. */
  readonly skewMs: number;
  /** A hash of the public keys that it has pinned for all co-signers. */
  readonly peers: string;
  /** Fingerprints of its key-encryption secrets. */
  readonly keyEncryption: readonly string[];
  /** Whether its identity secret is a key-encryption secret as well. */
  readonly isSecretReused: boolean;
  /** The version of its release, such as `0.2.0`. */
  readonly release: string;
  /** The newest state that its release knows. */
  readonly stateVersion: number;
  readonly keys: readonly TestedShare[];
}

/** The reported state of a co-signer. */
export interface CosignerState {
  readonly node: number;
  /** Null for a co-signer that answers; otherwise the code of its error or of the failed call. */
  readonly fault: string | null;
  /** With `misconfigured`, the name of the setting; null otherwise. */
  readonly setting: string | null;
  /** The co-signers that it has banned for cheating. */
  readonly banned: readonly number[];
  /**
   * The public key that it seals recovery packages for, in hex; an empty text when it has none, and
   * null when it does not answer.
   */
  readonly recoveryKey: string | null;
  /** Null when it does not answer, or is of release 0.2.0. */
  readonly test: CosignerTest | null;
}

/** What a co-signer has stated of its shares of all keys that were tested. */
export interface ShareRecord {
  readonly node: number;
  readonly keys: number;
  /** By its own clock, in Unix milliseconds; null without a share. */
  readonly oldestMadeAtMs: number | null;
  readonly newestMadeAtMs: number | null;
}

/** A share whose last test failed. */
export interface FaultyShare {
  readonly node: number;
  readonly share: TestedShare;
}

/**
 * Returns the states with the faulty shares of earlier tests: each test opens the shares of some
 * keys alone.
 */
export function withFaultyShares(
  states: readonly CosignerState[],
  faulty: readonly FaultyShare[],
): readonly CosignerState[] {
  return states.map((state) => {
    const { node, test } = state;
    if (test === null) return state;
    const tested = new Set(test.keys.map(({ keyId }) => keyId));
    const earlier = faulty.filter((one) => one.node === node && !tested.has(one.share.keyId));
    return { ...state, test: { ...test, keys: [...test.keys, ...earlier.map(({ share }) => share)] } };
  });
}

/** A co-signer refuses requests whose time differs by a minute. */
const MAX_SKEW_MS = 20_000;

/** Returns the alerts of co-signers, in the order of ALERT_CODES. */
export function alertsOfCosigners(cosigners: readonly CosignerState[]): readonly Alert[] {
  const found = [
    ...cosigners.map(({ node, fault, setting }): Alert | null => {
      if (fault === null) return null;
      const reason = setting === null ? fault : `${fault}, ${setting}`;
      return { code: 'cosigner-away', subject: String(node), detail: `Co-signer ${node} is unavailable: ${reason}.` };
    }),
    ...cosigners.map(({ node, banned }): Alert | null =>
      banned.length === 0
        ? null
        : {
            code: 'cosigner-banned',
            subject: String(node),
            detail: `Co-signer ${node} has banned other co-signers: ${banned.join(', ')}.`,
          },
    ),
    ...alertsOfRecoveryKeys(cosigners),
    ...alertsOfShares(cosigners),
    ...alertsOfSettings(cosigners),
  ];
  return found.filter((one) => one !== null);
}

/**
 * One secret must not open two shares. A share without a recovery key is lost with its co-signer.
 */
function alertsOfRecoveryKeys(cosigners: readonly CosignerState[]): readonly Alert[] {
  const keyless = cosigners.filter(({ recoveryKey }) => recoveryKey === '');
  const byKey = Map.groupBy(cosigners, ({ recoveryKey }) => recoveryKey);
  const shared = [...byKey].filter(([key, some]) => key !== null && key !== '' && some.length > 1);
  const missing: Alert[] =
    keyless.length === 0
      ? []
      : [
          {
            code: 'recovery-key-missing',
            subject: numbersOf(keyless),
            detail: `Co-signers without a recovery key: ${numbersOf(keyless)}.`,
          },
        ];
  return [
    ...missing,
    ...shared.map(([, some]): Alert => ({
      code: 'recovery-key-shared',
      subject: numbersOf(some),
      detail: `Co-signers that share one recovery key: ${numbersOf(some)}.`,
    })),
  ];
}

/** Shares that cannot be used. A payment would find them only when its signature fails. */
function alertsOfShares(cosigners: readonly CosignerState[]): readonly Alert[] {
  const withFault = (...faults: readonly TestedShare['fault'][]) =>
    cosigners.filter(({ test }) => test?.keys.some(({ fault }) => faults.includes(fault)) === true);
  const [unreadable, tooOld, missing] = [withFault('unreadable'), withFault('too-old'), withFault('missing')];
  const closed = [
    ...(unreadable.length === 0
      ? []
      : [`KEY_ENCRYPTION_SECRETS do not open shares at co-signers ${numbersOf(unreadable)}.`]),
    ...(tooOld.length === 0 ? [] : [`SHARES_SINCE excludes shares in use at co-signers ${numbersOf(tooOld)}.`]),
  ];
  return [
    ...(closed.length === 0
      ? []
      : [
          {
            code: 'share-unreadable' as const,
            subject: numbersOf([...unreadable, ...tooOld]),
            detail: closed.join(' '),
          },
        ]),
    ...(missing.length === 0
      ? []
      : [
          {
            code: 'share-missing' as const,
            subject: numbersOf(missing),
            detail: `Co-signers without a share of a key in use: ${numbersOf(missing)}.`,
          },
        ]),
  ];
}

/** Settings that must be equal at all co-signers, and secrets that must differ. */
function alertsOfSettings(cosigners: readonly CosignerState[]): readonly Alert[] {
  const tested = cosigners.flatMap(({ node, test }) => (test === null ? [] : [{ node, test }]));
  const groups = [...Map.groupBy(tested, ({ test }) => test.peers).values()];
  const owners = [...Map.groupBy(fingerprintsIn(tested), ({ fingerprint }) => fingerprint).values()];
  const shared = owners.filter((some) => some.length > 1);
  const reused = tested.filter(({ test }) => test.isSecretReused);
  const skewed = tested.filter(({ test }) => Math.abs(test.skewMs) > MAX_SKEW_MS);
  const secrets = [
    ...shared.map((some) => `KEY_ENCRYPTION_SECRETS have one secret at co-signers ${numbersOf(some)}.`),
    ...(reused.length === 0
      ? []
      : [`IDENTITY_SECRET is one of KEY_ENCRYPTION_SECRETS at co-signers ${numbersOf(reused)}.`]),
  ];
  return [
    ...(groups.length < 2
      ? []
      : [
          {
            code: 'peers-differ' as const,
            detail: `PEERS differ between co-signers ${groups.map(numbersOf).join(' and ')}.`,
          },
        ]),
    ...(secrets.length === 0 ? [] : [{ code: 'same-secret' as const, detail: secrets.join(' ') }]),
    ...skewed.map(({ node, test }): Alert => ({
      code: 'clock-skew',
      subject: String(node),
      detail: `The clocks of coordinator and co-signer ${node} differ by ${secondsOf(test)} seconds.`,
    })),
  ];
}

function secondsOf({ skewMs }: CosignerTest): number {
  return Math.round(Math.abs(skewMs) / 1000);
}

function fingerprintsIn(tested: readonly { readonly node: number; readonly test: CosignerTest }[]) {
  return tested.flatMap(({ node, test }) =>
    [...new Set(test.keyEncryption)].map((fingerprint) => ({ node, fingerprint })),
  );
}

function numbersOf(some: readonly { readonly node: number }[]): string {
  return some.map(({ node }) => node).join(', ');
}
