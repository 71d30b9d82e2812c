/** A source change that no test can notice, or that has no effect worth a test. */
export interface Argued {
  readonly file: string;
  /** The line before and after the change, as the run prints them. */
  readonly was: string;
  readonly is: string;
  readonly why: string;
}

const SIGNERS_SORTED =
  "const sorted = policy.signers.every((signer, i) => i === 0 || (policy.signers[i - 1] ?? '') < signer);";
const DEVICES_SORTED =
  "const sorted = devices.every(({ keyId }, i) => i === 0 || (devices[i - 1]?.keyId ?? '') < keyId);";
const BY_KEY = 'return devices.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));';
const BUDGET_SIZE = 'return units * BYTES_PER_UNIT + LENGTH_BYTES + fields.length * (2 * LENGTH_BYTES + 1);';

const NOTHING_BEFORE = 'before the first there is nothing, which is the empty text, and every id is larger than that';
const NEVER_ABSENT = 'behind the first there is always one before: what would stand for none is never asked for';
const ONLY_THE_SIGN = 'of an order only the sign is looked at';
const KEPT_FOR_SPEED = 'what is kept is what would be worked out again, later';
const MADE_ONCE = 'tables that are there are not made again, however often that is asked for';
const PUBLIC_KEY = 'whether this object would give the key away: it is public';
const LARGER_BUFFER = 'the buffer is only larger: as much of it is given as was written';

export const ARGUED: readonly Argued[] = [
  {
    file: 'src/domain/policy/policy.ts',
    was: SIGNERS_SORTED,
    is: "const sorted = policy.signers.every((signer, i) => (policy.signers[i - 1] ?? '') < signer);",
    why: NOTHING_BEFORE,
  },
  {
    file: 'src/domain/policy/policy.ts',
    was: SIGNERS_SORTED,
    is: "const sorted = policy.signers.every((signer, i) => i === 0 || (policy.signers[i - 1] ?? 'other') < signer);",
    why: NEVER_ABSENT,
  },
  {
    file: 'src/domain/policy/policy.ts',
    was: DEVICES_SORTED,
    is: "const sorted = devices.every(({ keyId }, i) => (devices[i - 1]?.keyId ?? '') < keyId);",
    why: NOTHING_BEFORE,
  },
  {
    file: 'src/domain/policy/policy.ts',
    was: DEVICES_SORTED,
    is: "const sorted = devices.every(({ keyId }, i) => i === 0 || (devices[i - 1]?.keyId ?? 'other') < keyId);",
    why: NEVER_ABSENT,
  },
  {
    file: 'src/domain/access/device.ts',
    was: BY_KEY,
    is: 'return devices.toSorted((a, b) => (a.keyId <= b.keyId ? -1 : 1));',
    why: 'two devices of one key are no policy, in whatever order they stand',
  },
  {
    file: 'src/domain/access/device.ts',
    was: BY_KEY,
    is: 'return devices.toSorted((a, b) => (a.keyId < b.keyId ? -1 : (1 + 1)));',
    why: ONLY_THE_SIGN,
  },
  {
    file: 'src/domain/access/device.ts',
    was: BY_KEY,
    is: 'return devices.toSorted((a, b) => (a.keyId < b.keyId ? -(1 + 1) : 1));',
    why: ONLY_THE_SIGN,
  },
  {
    file: 'src/domain/access/device.ts',
    was: "const passkey = device.algorithm === 'webauthn-p256' ? device : null;",
    is: 'const passkey = (device);',
    why: 'the key of a script has none of the three values that are asked for next',
  },
  {
    file: 'src/domain/canonical/bytes.ts',
    was: 'const BYTES_PER_UNIT = 3;',
    is: 'const BYTES_PER_UNIT = (3 + 1);',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/canonical/bytes.ts',
    was: 'for (const [name, value] of fields) units += name.length + (value?.length ?? 0);',
    is: 'for (const [name, value] of fields) units += name.length + (value?.length ?? (0 + 1));',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/canonical/bytes.ts',
    was: BUDGET_SIZE,
    is: 'return units * BYTES_PER_UNIT + LENGTH_BYTES + fields.length * ((2 + 1) * LENGTH_BYTES + 1);',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/canonical/bytes.ts',
    was: BUDGET_SIZE,
    is: 'return units * BYTES_PER_UNIT + LENGTH_BYTES + fields.length * (2 * LENGTH_BYTES + (1 + 1));',
    why: LARGER_BUFFER,
  },
  {
    file: 'src/domain/constant-time-equal.ts',
    was: 'for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);',
    is: 'for (let i = 0; i <= a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);',
    why: 'behind the end of both there is no character in either: NaN ^ NaN is 0',
  },
  {
    file: 'src/domain/wallet/wallet-nonce.ts',
    was: 'const NO_SLOTS: SlotChoice = { count: 0n, open: [], unproven: [] };',
    is: 'const NO_SLOTS: SlotChoice = { count: (0n + 1n), open: [], unproven: [] };',
    why: 'without unproven slots both choices are the same nonce, so the number of slots has no effect',
  },
  {
    file: 'src/domain/wallet/wallet-nonce.ts',
    was: 'return a > b ? a : b;',
    is: 'return a >= b ? a : b;',
    why: 'the larger of two that are the same is either',
  },
  {
    file: 'src/domain/asset/balance.ts',
    was: "if (late !== '0' && difference === -unitsOf(late)) return 'LATE_RECORD';",
    is: "if (difference === -unitsOf(late)) return 'LATE_RECORD';",
    why: 'a difference of nothing is none, and was given back before: nothing late explains no other',
  },
  {
    file: 'src/domain/asset/balance.ts',
    was: "if (late !== '0' && difference === -unitsOf(late)) return 'LATE_RECORD';",
    is: "if (late !== '' && difference === -unitsOf(late)) return 'LATE_RECORD';",
    why: 'a difference of nothing is none, and was given back before: nothing late explains no other',
  },
  {
    file: 'src/domain/policy/rules.ts',
    was: "const stepKey = (step: HigherThreshold) => `${assetKey(step)} ${step.above.padStart(78, '0')}`;",
    is: "const stepKey = (step: HigherThreshold) => `${assetKey(step)} ${step.above.padStart((78 + 1), '0')}`;",
    why: 'all are as long as each other, and as long as the longest amount at the least',
  },
  {
    file: 'src/domain/policy/rules.ts',
    was: 'return (a, b) => (keyOf(a) < keyOf(b) ? -1 : 1);',
    is: 'return (a, b) => (keyOf(a) < keyOf(b) ? -1 : (1 + 1));',
    why: ONLY_THE_SIGN,
  },
  {
    file: 'src/domain/policy/rules.ts',
    was: "return keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') < key);",
    is: "return keys.every((key, i) => (keys[i - 1] ?? '') < key);",
    why: NOTHING_BEFORE,
  },
  {
    file: 'src/domain/policy/rules.ts',
    was: "return keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') < key);",
    is: "return keys.every((key, i) => i === 0 || (keys[i - 1] ?? 'other') < key);",
    why: NEVER_ABSENT,
  },
  {
    file: 'src/domain/policy/rules.ts',
    was: 'return (a, b) => (keyOf(a) < keyOf(b) ? -1 : 1);',
    is: 'return (a, b) => (keyOf(a) <= keyOf(b) ? -1 : 1);',
    why: 'two of one key are in no order that is taken',
  },
  {
    file: 'src/domain/policy/rules.ts',
    was: 'return (a, b) => (keyOf(a) < keyOf(b) ? -1 : 1);',
    is: 'return (a, b) => (keyOf(a) < keyOf(b) ? -(1 + 1) : 1);',
    why: ONLY_THE_SIGN,
  },
  {
    file: 'src/domain/transaction/transition.ts',
    was: 'if (newest === undefined || newest.sent === null) return null;',
    is: 'if (newest === undefined) return null;',
    why: 'what was not sent calls for no other and for no cancellation: the next line says so as well',
  },
  {
    file: 'src/devices/verify-signature.ts',
    was: 'const key = KEYS.get(device) ?? imported(device);',
    is: 'const key = imported(device);',
    why: KEPT_FOR_SPEED,
  },
  { file: 'src/devices/verify-signature.ts', was: 'KEYS.set(device, key);', is: ';', why: KEPT_FOR_SPEED },
  {
    file: 'src/devices/verify-signature.ts',
    was: "return crypto.subtle.importKey('raw', Uint8Array.from(hexToBytes(publicKey)), 'Ed25519', false, ['verify']);",
    is: "return crypto.subtle.importKey('raw', Uint8Array.from(hexToBytes(publicKey)), 'Ed25519', true, ['verify']);",
    why: PUBLIC_KEY,
  },
  {
    file: 'src/devices/verify-signature.ts',
    was: "return crypto.subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['verify']);",
    is: "return crypto.subtle.importKey('raw', point, { name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']);",
    why: PUBLIC_KEY,
  },
  {
    file: 'src/devices/verify-signature.ts',
    was: 'const point = Uint8Array.from(p256.Point.fromHex(publicKey).toBytes(false));',
    is: 'const point = Uint8Array.from(p256.Point.fromHex(publicKey).toBytes(true));',
    why: 'the same point: Node and workerd take it in 33 bytes as well, which no runtime has to',
  },
  {
    file: 'src/devices/webauthn.ts',
    was: 'const flags = data[RP_ID_HASH_BYTES] ?? 0;',
    is: 'const flags = data[RP_ID_HASH_BYTES] ?? (0 + 1);',
    why: 'what is shorter was refused before: there always is such a byte',
  },
  {
    file: 'src/devices/webauthn.ts',
    was: "if (der == null || data == null || client == null) return 'malformed';",
    is: "if (der == null || data == null) return 'malformed';",
    why: 'what is not there is not read either, and the next line refuses it by the same name',
  },
  {
    file: 'src/devices/webauthn.ts',
    was: "if (der == null || data == null || client == null) return 'malformed';",
    is: "if (data == null || client == null) return 'malformed';",
    why: 'what is not there is not read either, and the next line refuses it by the same name',
  },
  {
    file: 'src/cosigner/tables/lazy-tables.ts',
    was: 'if (!this.#created) createState(this.#sql, COSIGNER_SCHEMA);',
    is: 'if (true) createState(this.#sql, COSIGNER_SCHEMA);',
    why: MADE_ONCE,
  },
  { file: 'src/cosigner/tables/lazy-tables.ts', was: 'this.#created = true;', is: ';', why: MADE_ONCE },
  {
    file: 'src/cosigner/tables/lazy-tables.ts',
    was: 'this.#created = true;',
    is: 'this.#created = false;',
    why: MADE_ONCE,
  },
  {
    file: 'src/monitors/monitor.ts',
    was: 'seconds !== null && /^[0-9]{1,12}$/.test(seconds) &&',
    is: '/^[0-9]{1,12}$/.test(seconds) &&',
    why: 'nothing is read as a word, which is no number',
  },
  {
    file: 'src/monitors/helius.ts',
    was: "const authorization = header('authorization') ?? '';",
    is: "const authorization = header('authorization') ?? 'other';",
    why: 'no secret is that short',
  },
];
