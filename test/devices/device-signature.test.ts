import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { DeviceDescription } from '#devices/device-key.ts';
import { deviceKeyId, parseDevice } from '#devices/device-key.ts';
import { verifiedApprovals, signatureFault, deviceSignatureRefusal } from '#devices/device-signature.ts';
import type { Device, DeviceSignature } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { alice, bob, carol, DIGEST, mallory, NOON_MS, policy } from '../domain/cast.ts';
import type { Assertion } from './authenticator.ts';
import { Authenticator } from './authenticator.ts';

/**
 * Covers which signatures count as approvals, and for which signer. OpenSSL signs, and another
 * implementation verifies.
 */

const OTHER_DIGEST = 'd2'.repeat(32);
const script = ScriptDevice.create();
const phone = new Authenticator(bob.userId);
const laptop = script.asDevice(alice.userId);

test("a script's key and a person's passkey sign for the member who owns them", async () => {
  expect(await signatureFault(laptop, DIGEST, script.signed(DIGEST))).toBeNull();
  expect(await signatureFault(phone.passkey, DIGEST, phone.signed(DIGEST))).toBeNull();
});

test('a signature over another digest is no approval', async () => {
  expect(await signatureFault(laptop, OTHER_DIGEST, script.signed(DIGEST))).toBe('wrong-signature');
  expect(await signatureFault(phone.passkey, OTHER_DIGEST, phone.signed(DIGEST))).toBe('wrong-digest');
});

test.each<[string, Assertion, string]>([
  ['the making of a passkey', { type: 'webauthn.create' }, 'wrong-ceremony'],
  ['a payment', { type: 'payment.get' }, 'wrong-ceremony'],
  ['another challenge', { challenge: Buffer.from('d2'.repeat(32), 'hex').toString('base64url') }, 'wrong-digest'],
  ['the challenge with padding', { challenge: `${Buffer.from(DIGEST, 'hex').toString('base64url')}=` }, 'wrong-digest'],
  ['no challenge', { challenge: '' }, 'wrong-digest'],
  ['another page', { origin: 'https://vaults.example.org' }, 'wrong-origin'],
  ['a page above it', { origin: 'https://example.com' }, 'wrong-origin'],
  ['the page without its s', { origin: 'http://vaults.example.com' }, 'wrong-origin'],
  ['the page with a port', { origin: 'https://vaults.example.com:8443' }, 'wrong-origin'],
  ['the page inside another one', { crossOrigin: true }, 'wrong-origin'],
  ['the page inside one that is named', { topOrigin: 'https://mallory.example' }, 'wrong-origin'],
  ['another domain', { rpId: 'example.org' }, 'wrong-relying-party'],
  ['the parent domain of the page', { rpId: 'example.com' }, 'wrong-relying-party'],
  ['without user presence', { flags: 0b100 }, 'user-not-verified'],
  ['without user verification', { flags: 0b001 }, 'user-not-verified'],
  ['no flags', { flags: 0 }, 'user-not-verified'],
  ['no JSON', { clientDataJson: 'approve' }, 'malformed'],
  ['JSON that is no object', { clientDataJson: '"webauthn.get"' }, 'malformed'],
  ['nothing, in JSON', { clientDataJson: 'null' }, 'malformed'],
  ['an object without anything', { clientDataJson: '{}' }, 'wrong-ceremony'],
])('a passkey that signs %s gives no approval', async (_name, differences, fault) => {
  expect(await signatureFault(phone.passkey, DIGEST, phone.signed(DIGEST, differences))).toBe(fault);
});

test('an authenticator may raise its counter, report a backed-up key, and add extensions', async () => {
  const kept = phone.signed(DIGEST, { flags: 0b11101, counter: 7 });
  expect(await signatureFault(phone.passkey, DIGEST, kept)).toBeNull();
});

test('a byte order mark before the client data does not count as a part of it', async () => {
  const { origin } = phone.passkey;
  const challenge = Buffer.from(DIGEST, 'hex').toString('base64url');
  const said = `\uFEFF${JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false })}`;
  expect(await signatureFault(phone.passkey, DIGEST, phone.signed(DIGEST, { clientDataJson: said }))).toBeNull();
});

test('a signature of another authenticator is wrong', async () => {
  const other = { ...new Authenticator(bob.userId).signed(DIGEST), keyId: phone.passkey.keyId };
  expect(await signatureFault(phone.passkey, DIGEST, other)).toBe('wrong-signature');
});

test('a device signature is invalid after a change of any of its bytes', async () => {
  const change = (text: string, at: number) => {
    const bytes = Buffer.from(text, 'base64url');
    bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ (1 << (at % 8));
    return bytes.toString('base64url');
  };
  const right = phone.signed(DIGEST);
  const [assertion, edwards] = [right.assertion, script.signed(DIGEST)];
  if (assertion === null) throw new Error('a passkey asserts');
  await fc.assert(
    fc.asyncProperty(fc.nat(4096), async (at) => {
      const forged: [Device, DeviceSignature][] = [
        [laptop, { ...edwards, signature: change(edwards.signature, at) }],
        [phone.passkey, { ...right, signature: change(right.signature, at) }],
        [
          phone.passkey,
          { ...right, assertion: { ...assertion, authenticatorData: change(assertion.authenticatorData, at) } },
        ],
        [
          phone.passkey,
          { ...right, assertion: { ...assertion, clientDataJson: change(assertion.clientDataJson, at) } },
        ],
      ];
      for (const [device, signature] of forged) expect(await signatureFault(device, DIGEST, signature)).not.toBeNull();
    }),
  );
});

test.each<[string, Partial<DeviceSignature>]>([
  ['under the name of another device', { keyId: phone.passkey.keyId }],
  ['with a superfluous assertion', { assertion: { authenticatorData: 'AAAA', clientDataJson: 'AAAA' } }],
  ['with a byte too many', { signature: `${script.signed(DIGEST).signature}AA` }],
  ['with padding', { signature: `${script.signed(DIGEST).signature}==` }],
  ['with nothing', { signature: '' }],
])('a script’s signature %s is malformed', async (_name, differences) => {
  expect(await signatureFault(laptop, DIGEST, { ...script.signed(DIGEST), ...differences })).toBe('malformed');
});

test('a passkey without authenticator data is malformed', async () => {
  const right = phone.signed(DIGEST);
  expect(await signatureFault(phone.passkey, DIGEST, { ...right, assertion: null })).toBe('malformed');
  const { assertion } = right;
  if (assertion === null) throw new Error('a passkey asserts');
  for (const half of [
    { ...assertion, authenticatorData: 'no base64url!' },
    { ...assertion, clientDataJson: 'no base64url!' },
  ]) {
    expect(await signatureFault(phone.passkey, DIGEST, { ...right, assertion: half })).toBe('malformed');
  }
  const short = { authenticatorData: 'AAAA', clientDataJson: right.assertion?.clientDataJson ?? '' };
  expect(await signatureFault(phone.passkey, DIGEST, { ...right, assertion: short })).toBe('malformed');
});

test('a signature with the larger S is accepted, because authenticators may produce it', async () => {
  const right = phone.signed(DIGEST);
  const { r, s } = p256.Signature.fromBytes(new Uint8Array(Buffer.from(right.signature, 'base64url')), 'der');
  const other = new p256.Signature(r, p256.Point.Fn.ORDER - s).toBytes('der');
  const signature = Buffer.from(other).toString('base64url');
  expect(await signatureFault(phone.passkey, DIGEST, { ...right, signature })).toBeNull();
});

const described = (differences: Partial<DeviceDescription>): DeviceDescription => ({
  userId: alice.userId,
  algorithm: 'webauthn-p256',
  publicKey: phone.passkey.publicKey,
  credentialId: phone.passkey.credentialId,
  rpId: 'vaults.example.com',
  origin: 'https://vaults.example.com',
  ...differences,
});
const plain = { credentialId: null, rpId: null, origin: null };
const edwards = (publicKey: string) => described({ algorithm: 'ed25519', publicKey, ...plain });
const NEUTRAL = `01${'00'.repeat(31)}`;

test.each<[string, DeviceDescription, string]>([
  ['an unsupported algorithm', described({ algorithm: 'rs256' }), 'algorithm'],
  ['the neutral element, whose signatures hold for anything', edwards(NEUTRAL), 'publicKey'],
  ['a point of order eight', edwards('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'), 'publicKey'],
  [
    'a key with such a part',
    edwards(
      ed25519.Point.fromHex(laptop.publicKey)
        .add(ed25519.Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'))
        .toHex(),
    ),
    'publicKey',
  ],
  ['a key in capitals', edwards(laptop.publicKey.toUpperCase()), 'publicKey'],
  ['a script’s key with a page', { ...edwards(laptop.publicKey), origin: 'https://example.com' }, 'origin'],
  ['a point that is on no curve', described({ publicKey: `02${'ff'.repeat(32)}` }), 'publicKey'],
  ['the point at infinity', described({ publicKey: '00' }), 'publicKey'],
  ['a passkey without a name', described({ credentialId: null }), 'credentialId'],
  ['a name with padding', described({ credentialId: 'AAAAAAAAAAAAAAAAAAAAAA==' }), 'credentialId'],
  ['no domain', described({ rpId: null }), 'rpId'],
  ['a domain in capitals', described({ rpId: 'Vaults.example.com' }), 'rpId'],
  ['no page', described({ origin: null }), 'origin'],
  ['a page without TLS, which others could have changed', described({ origin: 'http://vaults.example.com' }), 'origin'],
  ['a page of another domain', described({ origin: 'https://vaults.example.com.mallory.org' }), 'origin'],
  ['a host that ends alike', described({ origin: 'https://badvaults.example.com' }), 'origin'],
  ['a parent domain of the page', described({ rpId: 'example.com' }), 'origin'],
  ['a page with a path', described({ origin: 'https://vaults.example.com/' }), 'origin'],
])('an enrolment with %s gives no device', async (_name, description, part) => {
  expect(parseDevice(description)).toBe(part);
});

test('a key has one id, however its point is encoded', async () => {
  const whole = p256.Point.fromHex(phone.passkey.publicKey).toHex(false);
  const device = parseDevice(described({ publicKey: whole }));
  expect(device).toMatchObject({ publicKey: phone.passkey.publicKey, keyId: phone.passkey.keyId });
  expect(deviceKeyId(laptop)).not.toBe(deviceKeyId({ algorithm: 'webauthn-p256', publicKey: laptop.publicKey }));
  expect(parseDevice(described({ rpId: 'localhost', origin: 'http://localhost:5173' }))).toMatchObject({
    rpId: 'localhost',
  });
});

describe('a policy of devices', () => {
  const devices = sortedByKeyId([laptop, phone.passkey]);
  const byDevice: Policy = { ...policy, approvalMode: 'device', devices };
  const approvalOf = (actor: typeof alice, device: DeviceSignature | null, digest = DIGEST) => ({
    actor,
    digest,
    device,
    atMs: NOON_MS,
  });
  const hers = approvalOf(alice, script.signed(DIGEST));
  const his = approvalOf(bob, phone.signed(DIGEST));

  test('a signature is proven only if a device of the signer made it', async () => {
    const approvals = [
      hers,
      his,
      approvalOf(carol, null),
      // Each one signs in the name of the other, and in the name of a user who has no device or is
      // not a signer.
      approvalOf(bob, script.signed(DIGEST)),
      approvalOf(alice, phone.signed(DIGEST)),
      approvalOf(carol, script.signed(DIGEST)),
      approvalOf(mallory, ScriptDevice.create().signed(DIGEST)),
      approvalOf(alice, script.signed(DIGEST), OTHER_DIGEST),
    ];
    expect(await verifiedApprovals(approvals, byDevice)).toEqual([hers, his]);
    expect(await verifiedApprovals(approvals, policy)).toEqual(approvals);
  });

  test('a proven signature is not checked again, and counts for the same device alone', async () => {
    const check = vi.spyOn(crypto.subtle, 'verify');
    const approval = approvalOf(alice, script.signed(DIGEST));
    for (let i = 0; i < 3; i++) expect(await verifiedApprovals([approval], byDevice)).toEqual([approval]);
    expect(check).toHaveBeenCalledTimes(1);
    // An equal approval is another object, and so is a device of another policy.
    expect(await verifiedApprovals([{ ...approval }], byDevice)).toHaveLength(1);
    const { publicKey } = ScriptDevice.create().asDevice(alice.userId);
    const replaced = byDevice.devices.map((one) => (one.keyId === laptop.keyId ? { ...one, publicKey } : one));
    expect(await verifiedApprovals([approval], { ...byDevice, devices: replaced })).toEqual([]);
    expect(check).toHaveBeenCalledTimes(3);
    const wrong = approvalOf(alice, script.signed(OTHER_DIGEST));
    for (let i = 0; i < 2; i++) expect(await verifiedApprovals([wrong], byDevice)).toEqual([]);
    check.mockRestore();
  });

  test('an approval that does not count is refused with its reason', async () => {
    expect(await deviceSignatureRefusal(hers, byDevice)).toBeNull();
    expect(await deviceSignatureRefusal(approvalOf(alice, null), byDevice)).toEqual({
      code: 'device-signature-required',
    });
    expect(await deviceSignatureRefusal(approvalOf(alice, null), policy)).toBeNull();
    const refused = (fault: string) => ({ code: 'device-signature-refused', fault });
    expect(await deviceSignatureRefusal(approvalOf(carol, script.signed(DIGEST)), byDevice)).toEqual(
      refused('unknown-device'),
    );
    expect(await deviceSignatureRefusal(hers, policy)).toEqual(refused('unknown-device'));
    expect(await deviceSignatureRefusal({ ...hers, digest: OTHER_DIGEST }, byDevice)).toEqual(
      refused('wrong-signature'),
    );
  });
});
