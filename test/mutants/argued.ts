/** A change that no test can notice, or that nothing hangs on. */
export interface Argued {
  readonly file: string;
  /** The line before and after, as the run says it. */
  readonly was: string;
  readonly is: string;
  readonly why: string;
}

const SIGNERS_SORTED =
  "const sorted = policy.signers.every((signer, i) => i === 0 || (policy.signers[i - 1] ?? '') < signer);";
const DEVICES_SORTED =
  "const sorted = devices.every(({ keyId }, i) => i === 0 || (devices[i - 1]?.keyId ?? '') < keyId);";
const BY_KEY = 'return devices.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));';
const LARGEST_SIZE = 'return units * BYTES_PER_UNIT + LENGTH_BYTES + fields.length * (2 * LENGTH_BYTES + 1);';

const NOTHING_BEFORE = 'before the first there is nothing, which is the empty text, and every id is larger than that';
const NEVER_ABSENT = 'behind the first there is always one before: what would stand for none is never asked for';
const ONLY_THE_SIGN = 'of an order only the sign is looked at';
const LARGER_BUFFER = 'the buffer is only larger: as much of it is given as was written';

export const ARGUED: readonly Argued[] = [
  {
    file: 'src/domain/policy.ts',
    was: SIGNERS_SORTED,
    is: "const sorted = policy.signers.every((signer, i) => (policy.signers[i - 1] ?? '') < signer);",
    why: NOTHING_BEFORE,
  },
  {
    file: 'src/domain/policy.ts',
    was: SIGNERS_SORTED,
    is: "const sorted = policy.signers.every((signer, i) => i === 0 || (policy.signers[i - 1] ?? 'other') < signer);",
    why: NEVER_ABSENT,
  },
  {
    file: 'src/domain/policy.ts',
    was: DEVICES_SORTED,
    is: "const sorted = devices.every(({ keyId }, i) => (devices[i - 1]?.keyId ?? '') < keyId);",
    why: NOTHING_BEFORE,
  },
  {
    file: 'src/domain/policy.ts',
    was: DEVICES_SORTED,
    is: "const sorted = devices.every(({ keyId }, i) => i === 0 || (devices[i - 1]?.keyId ?? 'other') < keyId);",
    why: NEVER_ABSENT,
  },
  {
    file: 'src/domain/device.ts',
    was: BY_KEY,
    is: 'return devices.toSorted((a, b) => (a.keyId <= b.keyId ? -1 : 1));',
    why: 'two devices of one key are no policy, in whatever order they stand',
  },
  {
    file: 'src/domain/device.ts',
    was: BY_KEY,
    is: 'return devices.toSorted((a, b) => (a.keyId < b.keyId ? -1 : (1 + 1)));',
    why: ONLY_THE_SIGN,
  },
  {
    file: 'src/domain/device.ts',
    was: BY_KEY,
    is: 'return devices.toSorted((a, b) => (a.keyId < b.keyId ? -(1 + 1) : 1));',
    why: ONLY_THE_SIGN,
  },
  {
    file: 'src/domain/device.ts',
    was: "const passkey = device.algorithm === 'webauthn-p256' ? device : null;",
    is: 'const passkey = (device);',
    why: 'the key of a script has none of the three values that are asked for next',
  },
  {
    file: 'src/domain/canonical.ts',
    was: 'const BYTES_PER_UNIT = 3;',
    is: 'const BYTES_PER_UNIT = (3 + 1);',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/canonical.ts',
    was: 'for (const [name, value] of fields) units += name.length + (value?.length ?? 0);',
    is: 'for (const [name, value] of fields) units += name.length + (value?.length ?? (0 + 1));',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/canonical.ts',
    was: LARGEST_SIZE,
    is: 'return units * BYTES_PER_UNIT + LENGTH_BYTES + fields.length * ((2 + 1) * LENGTH_BYTES + 1);',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/canonical.ts',
    was: LARGEST_SIZE,
    is: 'return units * BYTES_PER_UNIT + LENGTH_BYTES + fields.length * (2 * LENGTH_BYTES + (1 + 1));',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/equal-texts.ts',
    was: 'for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);',
    is: 'for (let i = 0; i <= a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);',
    why: 'behind the end of both there is no character in either: NaN ^ NaN is 0',
  },
  {
    file: 'src/domain/wallet-nonce.ts',
    was: '(least, nonce) => (least === null || nonce < least ? nonce : least),',
    is: '(least, nonce) => (least === null || nonce <= least ? nonce : least),',
    why: 'the smaller of two that are the same is either',
  },
  {
    file: 'src/domain/wallet-nonce.ts',
    was: 'return a > b ? a : b;',
    is: 'return a >= b ? a : b;',
    why: 'the larger of two that are the same is either',
  },
  {
    file: 'src/domain/ledger.ts',
    was: "if (late !== '0' && difference === -unitsOf(late)) return 'LATE_RECORD';",
    is: "if (difference === -unitsOf(late)) return 'LATE_RECORD';",
    why: 'a difference of nothing is none, and was given back before: nothing late explains no other',
  },
  {
    file: 'src/domain/ledger.ts',
    was: "if (late !== '0' && difference === -unitsOf(late)) return 'LATE_RECORD';",
    is: "if (late !== '' && difference === -unitsOf(late)) return 'LATE_RECORD';",
    why: 'a difference of nothing is none, and was given back before: nothing late explains no other',
  },
];
