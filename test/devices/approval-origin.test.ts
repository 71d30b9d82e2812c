import { expect, test } from 'vitest';
import { approvalOrigin, isOfOtherOrigin, passkeyWarnings } from '#devices/approval-origin.ts';
import { ALICE, deviceOf, scriptOf } from '../approval-page/request-scene.ts';

test('the setting of the approval page accepts an origin only', () => {
  expect(approvalOrigin({})).toBe(null);
  expect(approvalOrigin({ APPROVAL_ORIGIN: ' ' })).toBe(null);
  expect(approvalOrigin({ APPROVAL_ORIGIN: 'https://approve.example.com' })).toBe('https://approve.example.com');
  expect(approvalOrigin({ APPROVAL_ORIGIN: 'http://localhost:8791' })).toBe('http://localhost:8791');
});

test.each(['https://approve.example.com/', 'http://approve.example.com', 'approve.example.com', 'javascript:alert(1)'])(
  'the setting %s is refused, and the error does not repeat it',
  (text) => {
    expect(() => approvalOrigin({ APPROVAL_ORIGIN: text })).toThrow(/^APPROVAL_ORIGIN must be an origin/);
  },
);

test('only a passkey may have another origin, and only if an approval page is configured', () => {
  const passkey = deviceOf({
    userId: ALICE,
    algorithm: 'webauthn-p256',
    publicKey: '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
    credentialId: 'c'.repeat(22),
    rpId: 'vaults.example.com',
    origin: 'https://vaults.example.com',
  });
  expect(isOfOtherOrigin(passkey, 'https://approve.example.com')).toBe(true);
  expect(isOfOtherOrigin(passkey, 'https://vaults.example.com')).toBe(false);
  expect(isOfOtherOrigin(passkey, null)).toBe(false);
  expect(isOfOtherOrigin(scriptOf(ALICE, 'laptop'), 'https://approve.example.com')).toBe(false);
  const codes = (origin: string | null) => passkeyWarnings([passkey, passkey], origin).map(({ code }) => code);
  expect(codes('https://approve.example.com')).toEqual(['passkey-of-other-origin']);
  expect(codes('https://vaults.example.com')).toEqual([]);
  expect(codes(null)).toEqual([]);
});
