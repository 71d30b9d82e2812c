import { expect, test } from 'vitest';
import { approvalOrigins, isOfOtherOrigin, passkeyWarnings } from '#devices/approval-origin.ts';
import { ALICE, deviceOf, scriptOf } from '../approval-page/request-scene.ts';

const [FIRST, SECOND] = ['https://approve.example.com', 'https://approve.example.org'] as const;

test('the setting of the approval page accepts one origin, or two with the preferred one first', () => {
  expect(approvalOrigins({})).toEqual([]);
  expect(approvalOrigins({ APPROVAL_ORIGIN: ' ' })).toEqual([]);
  expect(approvalOrigins({ APPROVAL_ORIGIN: FIRST })).toEqual([FIRST]);
  expect(approvalOrigins({ APPROVAL_ORIGIN: 'http://localhost:8791' })).toEqual(['http://localhost:8791']);
  expect(approvalOrigins({ APPROVAL_ORIGIN: ` ${SECOND}  ${FIRST}\n` })).toEqual([SECOND, FIRST]);
});

test.each([
  'https://approve.example.com/',
  'http://approve.example.com',
  'approve.example.com',
  'javascript:alert(1)',
  'http://evil-localhost:8791',
  `${FIRST} approve.example.org`,
  `${FIRST} ${SECOND} https://approve.example.net`,
  `${FIRST},${SECOND}`,
])('the setting %s is refused, and the error does not repeat it', (text) => {
  expect(() => approvalOrigins({ APPROVAL_ORIGIN: text })).toThrow(
    /^APPROVAL_ORIGIN must be an origin, such as \S+, or/,
  );
});

test('two pages on one host are refused, because a passkey of one is a passkey of the other', () => {
  for (const text of [`${FIRST} ${FIRST}`, `${FIRST} ${FIRST}:8443`, 'http://localhost:1 http://localhost:2']) {
    expect(() => approvalOrigins({ APPROVAL_ORIGIN: text })).toThrow(/^APPROVAL_ORIGIN must name two different hosts/);
  }
});

test('only a passkey may have another origin, and only if an approval page is configured', () => {
  const own = 'https://vaults.example.com';
  const passkey = deviceOf({
    userId: ALICE,
    algorithm: 'webauthn-p256',
    publicKey: '036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
    credentialId: 'c'.repeat(22),
    rpId: 'vaults.example.com',
    origin: own,
  });
  const codes = (origins: readonly string[]) => passkeyWarnings([passkey, passkey], origins).map(({ code }) => code);
  for (const others of [[FIRST], [FIRST, SECOND]]) {
    expect(isOfOtherOrigin(passkey, others)).toBe(true);
    expect(codes(others)).toEqual(['passkey-of-other-origin']);
  }
  for (const listed of [[own], [FIRST, own], [own, FIRST], []]) {
    expect(isOfOtherOrigin(passkey, listed)).toBe(false);
    expect(codes(listed)).toEqual([]);
  }
  expect(isOfOtherOrigin(scriptOf(ALICE, 'laptop'), [FIRST])).toBe(false);
});
