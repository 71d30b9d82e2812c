import { createHmac } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak256 } from 'viem';
import { describe, expect, test } from 'vitest';
import { verifyDelivery } from '#monitors/endpoint.ts';
import type { Delivery } from '#monitors/monitor.ts';

/**
 * Covers which deliveries are authentic: each scheme is checked against its published vector or
 * another implementation, and with nearly valid signatures.
 */

const NOW_MS = 1_614_265_330_000;
const SECRET = 'a-signing-key-of-this-story';

function delivery(body: string, headers: Readonly<Record<string, string>>): Delivery {
  return { body: utf8ToBytes(body), header: (name) => headers[name] ?? null };
}

const setting = (provider: string, ...secrets: readonly string[]) => JSON.stringify({ main: { provider, secrets } });
const isAccepted = (provider: string, sent: Delivery, secrets: readonly string[] = [SECRET], nowMs = NOW_MS) =>
  verifyDelivery(setting(provider, ...secrets), { provider, endpointId: 'main' }, sent, nowMs);

describe('Standard Webhooks', () => {
  // The example of the specification.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const accepts = (change: Readonly<Record<string, string>> = {}, text = body, nowMs = NOW_MS) =>
    isAccepted('standard-webhooks', delivery(text, { ...headers, ...change }), [secret], nowMs);

  test('accepts its published vector, alone and among others', () => {
    expect(accepts()).toBe(true);
    const among = `v1,AAAA v1a,BBBB ${headers['webhook-signature']}`;
    expect(accepts({ 'webhook-signature': among })).toBe(true);
  });

  test('refuses a change of any byte, header, version or secret', () => {
    expect(accepts({}, '{"test": 2432232315}')).toBe(false);
    expect(accepts({}, `${body} `)).toBe(false);
    expect(accepts({ 'webhook-id': 'msg_other' })).toBe(false);
    expect(accepts({ 'webhook-timestamp': '1614265331' })).toBe(false);
    expect(accepts({ 'webhook-signature': headers['webhook-signature'].slice(3) })).toBe(false);
    expect(accepts({ 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') })).toBe(false);
    expect(accepts({ 'webhook-signature': '' })).toBe(false);
    expect(isAccepted('standard-webhooks', delivery(body, headers), ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx'])).toBe(
      false,
    );
    expect(isAccepted('standard-webhooks', delivery(body, headers), ['not-of-this-kind'])).toBe(false);
  });

  test('refuses a delivery without one of its headers, even if the rest is signed correctly', () => {
    const hmacOver = (text: string) =>
      `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(text)
        .digest('base64')}`;
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    const without = (some: Readonly<Record<string, string>>) =>
      isAccepted('standard-webhooks', delivery(body, some), [secret]);
    expect(without({ ...headers, 'webhook-signature': hmacOver(`${id}.${timestamp}.${body}`) })).toBe(true);
    const nameless = { 'webhook-timestamp': timestamp, 'webhook-signature': hmacOver(`null.${timestamp}.${body}`) };
    const timeless = { 'webhook-id': id, 'webhook-signature': hmacOver(`${id}.null.${body}`) };
    const unsigned = { 'webhook-id': id, 'webhook-timestamp': timestamp };
    for (const some of [nameless, timeless, unsigned, { 'webhook-signature': signature }]) {
      expect(without(some)).toBe(false);
    }
    // A timestamp is a number of seconds, with nothing after it.
    const signed = { ...headers, 'webhook-timestamp': `${timestamp}.5` };
    expect(without({ ...signed, 'webhook-signature': hmacOver(`${id}.${timestamp}.5.${body}`) })).toBe(false);
  });

  test('refuses a malformed secret', () => {
    const key = secret.slice(6);
    for (const other of [`123456${key}`, key, 'whsec_no-base64', `whsec_${key}A`]) {
      expect([other, isAccepted('standard-webhooks', delivery(body, headers), [other])]).toEqual([other, false]);
    }
  });

  test('accepts a timestamp within five minutes of now, and refuses one more second', () => {
    expect([accepts({}, body, NOW_MS + 300_000), accepts({}, body, NOW_MS - 300_000)]).toEqual([true, true]);
    expect([accepts({}, body, NOW_MS + 300_001), accepts({}, body, NOW_MS - 300_001)]).toEqual([false, false]);
    expect(accepts({ 'webhook-timestamp': '1e9' })).toBe(false);
  });

  test('Ed25519, for deployments that hold no monitor secret', async () => {
    const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
    const raw = Buffer.from(
      new Uint8Array((await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer),
    ).toString('base64');
    const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const signed = await crypto.subtle.sign('Ed25519', pair.privateKey, utf8ToBytes(text));
    const signature = `v1a,${Buffer.from(new Uint8Array(signed)).toString('base64')}`;
    const sent = (change: string) => delivery(change, { ...headers, 'webhook-signature': signature });
    expect(isAccepted('standard-webhooks', sent(body), [`whpk_${raw}`])).toBe(true);
    expect(isAccepted('standard-webhooks', sent(`${body} `), [`whpk_${raw}`])).toBe(false);
    const given = (altered: string, key = `whpk_${raw}`) =>
      isAccepted('standard-webhooks', delivery(body, { ...headers, 'webhook-signature': altered }), [key]);
    expect(given(signature)).toBe(true);
    expect([given(signature.replace('v1a', 'v2')), given(signature, `12345${raw}`), given(signature, raw)]).toEqual([
      false,
      false,
      false,
    ]);
    // The signature has a byte too few or too many, or is not base64.
    const bytes = Buffer.from(new Uint8Array(signed));
    const lengths = [bytes.subarray(1), Buffer.concat([bytes, Buffer.alloc(1)])].map((some) => some.toString('base64'));
    for (const wrong of [...lengths, '', 'A', '!!!!', 'AAAAA'])
      expect([wrong, given(`v1a,${wrong}`)]).toEqual([wrong, false]);
    for (const size of [31, 33]) {
      const key = Buffer.alloc(size, Buffer.from(raw, 'base64')).toString('base64');
      expect([size, given(signature, `whpk_${key}`)]).toEqual([size, false]);
    }
    // Four bits of the last letter before the padding belong to no byte.
    const spelled = signature.replace(/.(?==+$)/, (letter) => String.fromCharCode(letter.charCodeAt(0) + 1));
    expect(Buffer.from(spelled.slice(4), 'base64')).toEqual(bytes);
    expect(given(spelled)).toBe(false);
    // A public key must not be accepted as an HMAC secret.
    const forged = createHmac('sha256', Buffer.from(raw, 'base64')).update(text).digest('base64');
    const asHmac = delivery(body, { ...headers, 'webhook-signature': `v1,${forged}` });
    expect(isAccepted('standard-webhooks', asHmac, [`whpk_${raw}`])).toBe(false);
  });
});

test("Ed25519 follows RFC 8032: another encoding of a signature's point is refused", () => {
  const seed = new Uint8Array(32).fill(7);
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(seed);
  const text = utf8ToBytes(`n.1614265330.${BODY}`);
  // The neutral point encoded as y = p + 1: a verifier that reduces y modulo p accepts s = k * a as
  // a signature.
  const odd = hexToBytes(`ee${'ff'.repeat(30)}7f`);
  const order = ed25519.Point.Fn.ORDER;
  const k = bytesToNumberLE(sha512(concatBytes(odd, pointBytes, text))) % order;
  const signature = concatBytes(odd, numberToBytesLE((k * scalar) % order, 32));
  expect(ed25519.verify(signature, text, pointBytes, { zip215: true })).toBe(true);
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const sent = (of: Uint8Array) =>
    delivery(BODY, { 'webhook-id': 'n', 'webhook-timestamp': '1614265330', 'webhook-signature': `v1a,${base64(of)}` });
  const key = `whpk_${base64(pointBytes)}`;
  expect(isAccepted('standard-webhooks', sent(signature), [key])).toBe(false);
  expect(isAccepted('standard-webhooks', sent(ed25519.sign(text, seed)), [key])).toBe(true);
});

const BODY = '{"hello":"wörld"}';
const hmacOf = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');

/** The headers of a valid delivery of each other scheme. */
const RIGHT: Readonly<Record<string, (body: string) => Record<string, string>>> = {
  alchemy: (body) => ({ 'x-alchemy-signature': hmacOf(body) }),
  quicknode: (body) => ({
    'x-qn-nonce': 'n-1',
    'x-qn-timestamp': '1614265330',
    'x-qn-signature': hmacOf(`n-11614265330${body}`),
  }),
  moralis: (body) => ({ 'x-signature': keccak256(concatBytes(utf8ToBytes(body), utf8ToBytes(SECRET))) }),
  helius: () => ({ authorization: SECRET }),
};

describe.each(Object.entries(RIGHT))('monitor signatures of %s', (provider, headersFor) => {
  test('accepts a signature under a current secret', () => {
    expect(isAccepted(provider, delivery(BODY, headersFor(BODY)))).toBe(true);
    expect(isAccepted(provider, delivery(BODY, headersFor(BODY)), ['another-secret', SECRET])).toBe(true);
  });

  test('refuses a delivery without a valid signature', () => {
    expect(isAccepted(provider, delivery(BODY, headersFor(BODY)), ['another-secret'])).toBe(false);
    expect(isAccepted(provider, delivery(BODY, {}))).toBe(false);
    for (const left of Object.keys(headersFor(BODY))) {
      const others = Object.entries(headersFor(BODY)).filter(([name]) => name !== left);
      expect([left, isAccepted(provider, delivery(BODY, Object.fromEntries(others)))]).toEqual([left, false]);
    }
    for (const [name, value] of Object.entries(headersFor(BODY))) {
      expect([name, isAccepted(provider, delivery(BODY, { ...headersFor(BODY), [name]: '' }))]).toEqual([name, false]);
      const other = { ...headersFor(BODY), [name]: `${value}0` };
      expect([name, isAccepted(provider, delivery(BODY, other))]).toEqual([name, false]);
    }
    // Helius signs no body. The comment in the parser explains it.
    if (provider !== 'helius') expect(isAccepted(provider, delivery(`${BODY} `, headersFor(BODY)))).toBe(false);
    const nameless = { 'x-qn-timestamp': '1614265330', 'x-qn-signature': hmacOf(`null1614265330${BODY}`) };
    expect(isAccepted(provider, delivery(BODY, nameless))).toBe(false);
    if (provider === 'quicknode')
      expect(isAccepted(provider, delivery(BODY, headersFor(BODY)), [SECRET], NOW_MS + 300_001)).toBe(false);
  });
});

test('an endpoint belongs to one provider, and accepts deliveries only if its secret is configured', () => {
  const sent = delivery(BODY, { ...RIGHT['alchemy']?.(BODY), ...RIGHT['helius']?.(BODY) });
  const endpoint = { provider: 'alchemy', endpointId: 'main' };
  expect(verifyDelivery(setting('alchemy', SECRET), endpoint, sent, NOW_MS)).toBe(true);
  expect(verifyDelivery(setting('helius', SECRET), endpoint, sent, NOW_MS)).toBe(false);
  expect(verifyDelivery(setting('alchemy', SECRET), { ...endpoint, endpointId: 'other' }, sent, NOW_MS)).toBe(false);
  expect(verifyDelivery(setting('alchemy', SECRET), { ...endpoint, endpointId: '__proto__' }, sent, NOW_MS)).toBe(
    false,
  );
  expect(verifyDelivery(setting('constructor', SECRET), { ...endpoint, provider: 'constructor' }, sent, NOW_MS)).toBe(
    false,
  );
  for (const none of [undefined, '', '{}']) expect(verifyDelivery(none, endpoint, sent, NOW_MS)).toBe(false);
  const secrets = (count: number) => Array.from({ length: count }, (_, i) => `secret-${i}`);
  expect(verifyDelivery(setting('alchemy', 'letters8', ...secrets(9)), endpoint, sent, NOW_MS)).toBe(false);
  expect(() => verifyDelivery(setting('alchemy', ...secrets(11)), endpoint, sent, NOW_MS)).toThrow();
  expect(() => verifyDelivery(setting('alchemy'), endpoint, sent, NOW_MS)).toThrow();
  for (const wrong of ['[]', '{"main":{"provider":"alchemy"}}', 'x', setting('alchemy', 'short')]) {
    expect(() => verifyDelivery(wrong, endpoint, sent, NOW_MS)).toThrow();
  }
});
