import { createHmac } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';
import { _SHA256, sha512 } from '@noble/hashes/sha2.js';
import { Keccak } from '@noble/hashes/sha3.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { checkHeaders } from '#monitors/endpoint.ts';
import type { HeaderOf } from '#monitors/monitor.ts';
import { CASES, NOW_MS, SECRET } from './cases.ts';

/**
 * Covers which deliveries are authentic: each scheme is checked against its published vector or
 * another implementation, and with nearly valid signatures.
 */

interface Delivery {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly header: HeaderOf;
}

function delivery(body: string, headers: Readonly<Record<string, string>>): Delivery {
  return { body: Uint8Array.from(utf8ToBytes(body)), header: (name) => headers[name] ?? null };
}

async function verifyDelivery(
  settings: string | undefined,
  endpoint: Parameters<typeof checkHeaders>[1],
  { body, header }: Delivery,
  nowMs: number,
): Promise<boolean> {
  return (await checkHeaders(settings, endpoint, header, nowMs)?.(body)) ?? false;
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

  test('accepts its published vector, alone and among others', async () => {
    expect(await accepts()).toBe(true);
    const among = `v1,AAAA v1a,BBBB ${headers['webhook-signature']}`;
    expect(await accepts({ 'webhook-signature': among })).toBe(true);
  });

  test('refuses a change of any byte, header, version or secret', async () => {
    expect(await accepts({}, '{"test": 2432232315}')).toBe(false);
    expect(await accepts({}, `${body} `)).toBe(false);
    expect(await accepts({ 'webhook-id': 'msg_other' })).toBe(false);
    expect(await accepts({ 'webhook-timestamp': '1614265331' })).toBe(false);
    expect(await accepts({ 'webhook-signature': headers['webhook-signature'].slice(3) })).toBe(false);
    expect(await accepts({ 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') })).toBe(false);
    expect(await accepts({ 'webhook-signature': '' })).toBe(false);
    expect(
      await isAccepted('standard-webhooks', delivery(body, headers), ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx']),
    ).toBe(false);
    expect(await isAccepted('standard-webhooks', delivery(body, headers), ['not-of-this-kind'])).toBe(false);
  });

  test('refuses a delivery without one of its headers, even if the rest is signed correctly', async () => {
    const hmacOver = (text: string) =>
      `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
        .update(text)
        .digest('base64')}`;
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    const without = (some: Readonly<Record<string, string>>) =>
      isAccepted('standard-webhooks', delivery(body, some), [secret]);
    expect(await without({ ...headers, 'webhook-signature': hmacOver(`${id}.${timestamp}.${body}`) })).toBe(true);
    const nameless = { 'webhook-timestamp': timestamp, 'webhook-signature': hmacOver(`null.${timestamp}.${body}`) };
    const timeless = { 'webhook-id': id, 'webhook-signature': hmacOver(`${id}.null.${body}`) };
    const unsigned = { 'webhook-id': id, 'webhook-timestamp': timestamp };
    for (const some of [nameless, timeless, unsigned, { 'webhook-signature': signature }]) {
      expect(await without(some)).toBe(false);
    }
    // A timestamp is a number of seconds, with nothing after it.
    const signed = { ...headers, 'webhook-timestamp': `${timestamp}.5` };
    expect(await without({ ...signed, 'webhook-signature': hmacOver(`${id}.${timestamp}.5.${body}`) })).toBe(false);
  });

  test('refuses a malformed secret', async () => {
    const key = secret.slice(6);
    for (const other of [`123456${key}`, key, 'whsec_no-base64', `whsec_${key}A`]) {
      expect([other, await isAccepted('standard-webhooks', delivery(body, headers), [other])]).toEqual([other, false]);
    }
  });

  test('accepts a timestamp within five minutes of now, and refuses one more second', async () => {
    expect([await accepts({}, body, NOW_MS + 300_000), await accepts({}, body, NOW_MS - 300_000)]).toEqual([
      true,
      true,
    ]);
    expect([await accepts({}, body, NOW_MS + 300_001), await accepts({}, body, NOW_MS - 300_001)]).toEqual([
      false,
      false,
    ]);
    expect(await accepts({ 'webhook-timestamp': '1e9' })).toBe(false);
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
    expect(await isAccepted('standard-webhooks', sent(body), [`whpk_${raw}`])).toBe(true);
    expect(await isAccepted('standard-webhooks', sent(`${body} `), [`whpk_${raw}`])).toBe(false);
    const given = (altered: string, key = `whpk_${raw}`) =>
      isAccepted('standard-webhooks', delivery(body, { ...headers, 'webhook-signature': altered }), [key]);
    expect(await given(signature)).toBe(true);
    expect([
      await given(signature.replace('v1a', 'v2')),
      await given(signature, `12345${raw}`),
      await given(signature, raw),
    ]).toEqual([false, false, false]);
    // The signature has a byte too few or too many, or is not base64.
    const bytes = Buffer.from(new Uint8Array(signed));
    const lengths = [bytes.subarray(1), Buffer.concat([bytes, Buffer.alloc(1)])].map((some) => some.toString('base64'));
    for (const wrong of [...lengths, '', 'A', '!!!!', 'AAAAA'])
      expect([wrong, await given(`v1a,${wrong}`)]).toEqual([wrong, false]);
    for (const size of [31, 33]) {
      const key = Buffer.alloc(size, Buffer.from(raw, 'base64')).toString('base64');
      expect([size, await given(signature, `whpk_${key}`)]).toEqual([size, false]);
    }
    // Four bits of the last letter before the padding belong to no byte.
    const spelled = signature.replace(/.(?==+$)/, (letter) => String.fromCharCode(letter.charCodeAt(0) + 1));
    expect(Buffer.from(spelled.slice(4), 'base64')).toEqual(bytes);
    expect(await given(spelled)).toBe(false);
    // A public key must not be accepted as an HMAC secret.
    const forged = createHmac('sha256', Buffer.from(raw, 'base64')).update(text).digest('base64');
    const asHmac = delivery(body, { ...headers, 'webhook-signature': `v1,${forged}` });
    expect(await isAccepted('standard-webhooks', asHmac, [`whpk_${raw}`])).toBe(false);
  });
});

test("Ed25519 follows RFC 8032: another encoding of a signature's point is refused", async () => {
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
  expect(await isAccepted('standard-webhooks', sent(signature), [key])).toBe(false);
  expect(await isAccepted('standard-webhooks', sent(ed25519.sign(text, seed)), [key])).toBe(true);
});

test('a public key of a small order is refused, because everybody can make its signatures', async () => {
  // The neutral point. With it as the key, R = s * B fits every message.
  const neutral = hexToBytes(`01${'00'.repeat(31)}`);
  const scalar = 7n;
  const signature = concatBytes(ed25519.Point.BASE.multiply(scalar).toBytes(), numberToBytesLE(scalar, 32));
  const text = utf8ToBytes(`n.1614265330.${BODY}`);
  expect(ed25519.verify(signature, text, neutral, { zip215: true })).toBe(true);
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  const headers = {
    'webhook-id': 'n',
    'webhook-timestamp': '1614265330',
    'webhook-signature': `v1a,${base64(signature)}`,
  };
  const sent = delivery(BODY, headers);
  expect(await isAccepted('standard-webhooks', sent, [`whpk_${base64(neutral)}`])).toBe(false);
});

const BODY = '{"hello":"wörld"}';
const hmacOf = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');

describe.each(Object.entries(CASES))('monitor signatures of %s', (provider, monitor) => {
  const { secret, headers: headersFor } = monitor;
  const accepts = (sent: Delivery, secrets: readonly string[] = [secret], nowMs = NOW_MS) =>
    isAccepted(provider, sent, secrets, nowMs);

  test('accepts a signature under a current secret', async () => {
    expect(await accepts(delivery(BODY, headersFor(BODY)))).toBe(true);
    expect(await accepts(delivery(BODY, headersFor(BODY)), ['another-secret', secret])).toBe(true);
  });

  test('refuses a delivery without a valid signature', async () => {
    expect(await accepts(delivery(BODY, headersFor(BODY)), ['another-secret'])).toBe(false);
    expect(await accepts(delivery(BODY, {}))).toBe(false);
    for (const left of Object.keys(headersFor(BODY))) {
      const others = Object.entries(headersFor(BODY)).filter(([name]) => name !== left);
      expect([left, await accepts(delivery(BODY, Object.fromEntries(others)))]).toEqual([left, false]);
    }
    for (const [name, value] of Object.entries(headersFor(BODY))) {
      expect([name, await accepts(delivery(BODY, { ...headersFor(BODY), [name]: '' }))]).toEqual([name, false]);
      const other = { ...headersFor(BODY), [name]: `${value}0` };
      expect([name, await accepts(delivery(BODY, other))]).toEqual([name, false]);
    }
    // Helius signs no body. The comment in the parser explains it.
    if (monitor.isBodySigned) expect(await accepts(delivery(`${BODY} `, headersFor(BODY)))).toBe(false);
    const nameless = { 'x-qn-timestamp': '1614265330', 'x-qn-signature': hmacOf(`null1614265330${BODY}`) };
    expect(await accepts(delivery(BODY, nameless))).toBe(false);
    if (provider === 'quicknode')
      expect(await accepts(delivery(BODY, headersFor(BODY)), [secret], NOW_MS + 300_001)).toBe(false);
  });
});

test('an endpoint belongs to one provider, and accepts deliveries only if its secret is configured', async () => {
  const sent = delivery(BODY, { ...CASES.alchemy.headers(BODY), ...CASES.helius.headers() });
  const endpoint = { provider: 'alchemy', endpointId: 'main' };
  expect(await verifyDelivery(setting('alchemy', SECRET), endpoint, sent, NOW_MS)).toBe(true);
  expect(await verifyDelivery(setting('helius', SECRET), endpoint, sent, NOW_MS)).toBe(false);
  expect(await verifyDelivery(setting('alchemy', SECRET), { ...endpoint, endpointId: 'other' }, sent, NOW_MS)).toBe(
    false,
  );
  expect(await verifyDelivery(setting('alchemy', SECRET), { ...endpoint, endpointId: '__proto__' }, sent, NOW_MS)).toBe(
    false,
  );
  expect(
    await verifyDelivery(setting('constructor', SECRET), { ...endpoint, provider: 'constructor' }, sent, NOW_MS),
  ).toBe(false);
  for (const none of [undefined, '', '{}']) expect(await verifyDelivery(none, endpoint, sent, NOW_MS)).toBe(false);
  const secrets = (count: number) => Array.from({ length: count }, (_, i) => `secret-${i}`);
  expect(await verifyDelivery(setting('alchemy', 'letters8', ...secrets(9)), endpoint, sent, NOW_MS)).toBe(false);
  await expect(verifyDelivery(setting('alchemy', ...secrets(11)), endpoint, sent, NOW_MS)).rejects.toThrow();
  await expect(verifyDelivery(setting('alchemy'), endpoint, sent, NOW_MS)).rejects.toThrow();
  for (const wrong of ['[]', '{"main":{"provider":"alchemy"}}', 'x', setting('alchemy', 'short')]) {
    await expect(verifyDelivery(wrong, endpoint, sent, NOW_MS)).rejects.toThrow();
  }
});

describe('the work for a delivery without a valid signature is bounded', () => {
  afterEach(() => void vi.restoreAllMocks());

  const TEN_SECRETS = Array.from({ length: 10 }, (_, i) => `another-secret-${i}`);
  const LARGE = 'x'.repeat(1024 * 1024);
  const whsec = (i: number) => `whsec_${Buffer.alloc(24, i).toString('base64')}`;
  const candidates = (count: number, bytes = 32, version = 'v1') =>
    Array.from({ length: count }, (_, i) => `${version},${Buffer.alloc(bytes, i).toString('base64')}`).join(' ');
  const standard = (signatures: string) =>
    delivery(LARGE, { 'webhook-id': 'n', 'webhook-timestamp': '1614265330', 'webhook-signature': signatures });

  /** Counts the operations of Web Crypto, and the bytes that are hashed in JavaScript. */
  function counted() {
    const sign = vi.spyOn(crypto.subtle, 'sign');
    const verify = vi.spyOn(crypto.subtle, 'verify');
    const inScript = [_SHA256.prototype, Keccak.prototype].map((hash) => vi.spyOn(hash, 'update'));
    const scriptBytes = () =>
      inScript.flatMap(({ mock }) => mock.calls).reduce((sum: number, [bytes]) => sum + bytes.length, 0);
    return { macs: () => sign.mock.calls.length, verifications: () => verify.mock.calls.length, scriptBytes };
  }

  test('ten candidates and ten secrets cost ten MACs, none of them in JavaScript', async () => {
    const work = counted();
    const secrets = Array.from({ length: 10 }, (_, i) => whsec(i));
    expect(await isAccepted('standard-webhooks', standard(candidates(10)), secrets)).toBe(false);
    expect([work.macs(), work.scriptBytes()]).toEqual([10, 0]);
  });

  test.each(['alchemy', 'quicknode'] as const)(
    'ten secrets of %s cost ten MACs, none of them in JavaScript',
    async (provider) => {
      const headers = CASES[provider].headers('another body');
      const work = counted();
      expect(await isAccepted(provider, delivery(LARGE, headers), TEN_SECRETS)).toBe(false);
      expect([work.macs(), work.scriptBytes()]).toEqual([10, 0]);
    },
  );

  test('ten secrets of moralis cost one hash of the body', async () => {
    const headers = CASES.moralis.headers('another body');
    const work = counted();
    expect(await isAccepted('moralis', delivery(LARGE, headers), TEN_SECRETS)).toBe(false);
    expect(work.scriptBytes()).toBe(LARGE.length + TEN_SECRETS.join('').length);
  });

  test('Ed25519 costs at most ten verifications', async () => {
    const whpk = Array.from({ length: 10 }, (_, i) => {
      const key = ed25519.getPublicKey(new Uint8Array(32).fill(i + 1));
      return `whpk_${Buffer.from(key).toString('base64')}`;
    });
    const work = counted();
    const tried = async (signatures: number, keys: number) => {
      const before = work.verifications();
      const sent = standard(candidates(signatures, 64, 'v1a'));
      expect(await isAccepted('standard-webhooks', sent, whpk.slice(0, keys))).toBe(false);
      return work.verifications() - before;
    };
    expect([await tried(10, 1), await tried(1, 10), await tried(5, 2)]).toEqual([10, 10, 10]);
    expect([await tried(10, 10), await tried(2, 6)]).toEqual([0, 0]);
  });

  test('headers that cannot be authentic are refused without the body', () => {
    const ofHeaders = (provider: string, headers: Readonly<Record<string, string>>, secrets = TEN_SECRETS) =>
      checkHeaders(
        setting(provider, ...secrets),
        { provider, endpointId: 'main' },
        (name) => headers[name] ?? null,
        NOW_MS,
      );
    const times = { 'webhook-id': 'n', 'webhook-timestamp': '1614265330' };
    const standardOf = (signatures: string, secret = whsec(1)) =>
      ofHeaders('standard-webhooks', { ...times, 'webhook-signature': signatures }, [secret]);
    expect(standardOf(candidates(10))).not.toBeNull();
    expect([standardOf(candidates(11)), standardOf(candidates(2_500)), standardOf('v1,AAAA v2,BBBB')]).toEqual([
      null,
      null,
      null,
    ]);
    // The secret is of the other kind.
    expect(standardOf(candidates(1, 64, 'v1a'))).toBeNull();
    expect(standardOf(candidates(1), `whpk_${Buffer.alloc(32, 1).toString('base64')}`)).toBeNull();
    expect(ofHeaders('helius', { authorization: 'a-guess-of-a-secret' })).toBeNull();
    expect(ofHeaders('alchemy', { 'x-alchemy-signature': 'AB'.repeat(32) })).toBeNull();
    expect(ofHeaders('moralis', { 'x-signature': 'ab'.repeat(32) })).toBeNull();
    const old = { ...CASES.quicknode.headers(BODY), 'x-qn-timestamp': '1614265029' };
    expect(ofHeaders('quicknode', old)).toBeNull();
  });
});
