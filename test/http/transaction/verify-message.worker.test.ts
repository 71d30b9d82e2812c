import { expect, test } from 'vitest';
import { anotherToken, call, enter } from '../scene.worker.ts';

/** POST /transaction/message/verify, in the runtime that answers it; the verdicts themselves are of `test/chains`. */

const LINE = 'POST /transaction/message/verify';

/** The documentation of web3.js, `web3.eth.accounts.sign`. */
const TEXT = {
  chain: 'ethereum',
  address: '0x2c7536E3605D9C16a7a3D7b1898e529396a65c23',
  message: 'Some data',
  signature:
    '0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c747ef045e5d18a5f5d4300f8e1a0291c',
};

/** BIP-322, basic test vectors: the empty message by P2WPKH, and one by P2TR. */
const SEGWIT = {
  chain: 'bitcoin',
  address: 'bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l',
  message: '',
  signature:
    'smpAkcwRAIgM2gBAQqvZX15ZiysmKmQpDrG83avLIT492QBzLnQIxYCIBaTpOaD20qRlEylyxFSeEA2ba9YOixpX8z46TSDtS40ASECx/EgAxlkQpQ9hYjgGu6EBCPMVPwVIVJqO4XCsMvViHI=',
};
const TAPROOT = {
  chain: 'bitcoin',
  address: 'bc1pss0zhytly75awhm6x2hhvd5lnzv3vssgrf9axfheq8ldyzn88ges79fler',
  message: 'No prefix fallback',
  signature: 'AUCJYOwOjxYAvatTAGYaVlNXBVyFuc4MwNQkOuK2tl8xhfKDONd0NjfYyNSYcRqeCp8hsAnCEPHAVEkO9h6vbQ/R',
};

/** A key of RFC 8032, 7.1, test 1; its signature of the envelope of sRFC 3 was made by OpenSSL. */
const OFFCHAIN = {
  chain: 'solana',
  address: 'FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z',
  message: 'hello',
  signature: '3v3e75QqNw9x7MU6qdUL3GxhL5uAdnkpPVufVfesW4q9GtNXxnhQWZ4WZQViGLAkfPW3PJLuFsxLMSzpELtAi7r4',
};

const VALID = { valid: true, reason: null, detail: null };

test.each([
  ['eip191', TEXT],
  ['bip322', SEGWIT],
  ['bip322', TAPROOT],
  ['solana-offchain', OFFCHAIN],
])('a valid signature is told so: %s', async (format, body) => {
  const { token } = await enter('trent');
  const answer = await call(LINE, { token, body });
  expect([answer.status, answer.body]).toEqual([200, { chain: body.chain, address: body.address, format, ...VALID }]);
  const other = await call(LINE, { token, body: { ...body, message: 'something else' } });
  expect([other.status, other.body['valid'], other.body['reason']]).toEqual([200, false, 'other-signer']);
});

test('the address comes back in its one spelling, and the chain by its name', async () => {
  const { token } = await enter('trent');
  const body = { ...TEXT, chain: 'eip155:1', address: TEXT.address.toLowerCase() };
  const answer = await call(LINE, { token, body });
  expect([answer.body['chain'], answer.body['address'], answer.body['valid']]).toEqual([
    'ethereum',
    TEXT.address,
    true,
  ]);
});

test('a signature for a contract wallet is neither valid nor wrong', async () => {
  const { token } = await enter('trent');
  const answer = await call(LINE, { token, body: { ...TEXT, signature: `${TEXT.signature}00` } });
  expect([answer.status, answer.body['valid'], answer.body['reason']]).toEqual([200, null, 'contract-wallet']);
  expect(answer.body['detail']).toContain('EIP-1271');
});

test.each<[string, object, string, string]>([
  ['no chain', { chain: undefined }, '/chain', 'invalid_type'],
  ['an unknown chain', { chain: 'dogecoin' }, '/chain', 'unknown-chain'],
  ['an address of another family', { address: SEGWIT.address }, '/address', 'malformed'],
  ['a mistyped address', { address: TEXT.address.replace('2c75', '2C75') }, '/address', 'bad-checksum'],
  ['a format that is none', { format: 'eip1271' }, '/format', 'invalid_value'],
  ['a format of another family', { format: 'bip322' }, '/format', 'invalid-format'],
  ['an empty message, where there is none', { message: '' }, '/message', 'invalid-message'],
  ['a message that is too long', { message: 'x'.repeat(16_385) }, '/message', 'invalid-message'],
  ['a message that is ill-formed', { message: '\uD800' }, '/message', 'ill-formed-text'],
  ['no signature', { signature: '' }, '/signature', 'too_small'],
  ['a signature that is cut off', { signature: TEXT.signature.slice(0, -2) }, '/signature', 'invalid-signature'],
  ['a signature of another family', { signature: SEGWIT.signature }, '/signature', 'invalid-signature'],
  ['a field of no use', { vaultId: 1 }, '/vaultId', 'unknown-field'],
])('%s is refused by its pointer', async (_name, difference, pointer, code) => {
  const { token } = await enter('trent');
  const answer = await call(LINE, { token, body: { ...TEXT, ...difference } });
  const [fault] = answer.body['errors'] ?? [];
  expect([answer.status, answer.body['code'], fault?.pointer, fault?.code]).toEqual([
    400,
    'invalid-request',
    pointer,
    code,
  ]);
});

test('it takes a credential, and counts as a read', async () => {
  expect((await call(LINE, { body: TEXT })).status).toBe(401);
  const { token } = await anotherToken(await enter('trent'));
  const answer = await call(LINE, { token, body: TEXT });
  expect(answer.headers.get('ratelimit')).toMatch(/^"read";r=19/);
});
