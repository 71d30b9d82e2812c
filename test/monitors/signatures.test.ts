import { createHmac } from 'node:crypto';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak256 } from 'viem';
import { describe, expect, test } from 'vitest';
import { isAuthentic } from '#monitors/endpoint.ts';
import type { Delivery } from '#monitors/monitor.ts';

/** Who may deliver: each scheme against its published vector or another implementation, and everything that is nearly right. */

const NOW_MS = 1_614_265_330_000;
const SECRET = 'a-signing-key-of-this-story';

function delivery(body: string, headers: Readonly<Record<string, string>>): Delivery {
  return { body: utf8ToBytes(body), header: (name) => headers[name] ?? null };
}

const setting = (provider: string, ...secrets: readonly string[]) => JSON.stringify({ main: { provider, secrets } });
const ask = (provider: string, sent: Delivery, secrets: readonly string[] = [SECRET], nowMs = NOW_MS) =>
  isAuthentic(setting(provider, ...secrets), { provider, endpointId: 'main' }, sent, nowMs);

describe('Standard Webhooks', () => {
  // The example of the specification.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  };
  const asked = (change: Readonly<Record<string, string>> = {}, text = body, nowMs = NOW_MS) =>
    ask('standard-webhooks', delivery(text, { ...headers, ...change }), [secret], nowMs);

  test('its published vector, alone and among others', () => {
    expect(asked()).toBe(true);
    const among = `v1,AAAA v1a,BBBB ${headers['webhook-signature']}`;
    expect(asked({ 'webhook-signature': among })).toBe(true);
  });

  test('nothing that differs in a byte, a header, a version or a secret', () => {
    expect(asked({}, '{"test": 2432232315}')).toBe(false);
    expect(asked({}, `${body} `)).toBe(false);
    expect(asked({ 'webhook-id': 'msg_other' })).toBe(false);
    expect(asked({ 'webhook-timestamp': '1614265331' })).toBe(false);
    expect(asked({ 'webhook-signature': headers['webhook-signature'].slice(3) })).toBe(false);
    expect(asked({ 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') })).toBe(false);
    expect(asked({ 'webhook-signature': '' })).toBe(false);
    expect(ask('standard-webhooks', delivery(body, headers), ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx'])).toBe(false);
    expect(ask('standard-webhooks', delivery(body, headers), ['not-of-this-kind'])).toBe(false);
  });

  test('five minutes from now in either direction, and not a second more', () => {
    expect([asked({}, body, NOW_MS + 300_000), asked({}, body, NOW_MS - 300_000)]).toEqual([true, true]);
    expect([asked({}, body, NOW_MS + 300_001), asked({}, body, NOW_MS - 300_001)]).toEqual([false, false]);
    expect(asked({ 'webhook-timestamp': '1e9' })).toBe(false);
  });

  test('Ed25519, for monitors that should hold no secret', async () => {
    const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
    const raw = Buffer.from(
      new Uint8Array((await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer),
    ).toString('base64');
    const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const signed = await crypto.subtle.sign('Ed25519', pair.privateKey, utf8ToBytes(text));
    const signature = `v1a,${Buffer.from(new Uint8Array(signed)).toString('base64')}`;
    const sent = (change: string) => delivery(change, { ...headers, 'webhook-signature': signature });
    expect(ask('standard-webhooks', sent(body), [`whpk_${raw}`])).toBe(true);
    expect(ask('standard-webhooks', sent(`${body} `), [`whpk_${raw}`])).toBe(false);
    // A public key is no secret to make an HMAC with.
    const forged = createHmac('sha256', Buffer.from(raw, 'base64')).update(text).digest('base64');
    const asHmac = delivery(body, { ...headers, 'webhook-signature': `v1,${forged}` });
    expect(ask('standard-webhooks', asHmac, [`whpk_${raw}`])).toBe(false);
  });
});

const BODY = '{"hello":"wörld"}';
const hmacOf = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');

/** The headers of a right delivery of each other scheme. */
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

describe.each(Object.entries(RIGHT))('%s', (provider, headersFor) => {
  test('takes what is signed with a secret of now', () => {
    expect(ask(provider, delivery(BODY, headersFor(BODY)))).toBe(true);
    expect(ask(provider, delivery(BODY, headersFor(BODY)), ['another-secret', SECRET])).toBe(true);
  });

  test('takes nothing else', () => {
    expect(ask(provider, delivery(BODY, headersFor(BODY)), ['another-secret'])).toBe(false);
    expect(ask(provider, delivery(BODY, {}))).toBe(false);
    for (const [name, value] of Object.entries(headersFor(BODY))) {
      expect([name, ask(provider, delivery(BODY, { ...headersFor(BODY), [name]: '' }))]).toEqual([name, false]);
      const other = { ...headersFor(BODY), [name]: `${value}0` };
      expect([name, ask(provider, delivery(BODY, other))]).toEqual([name, false]);
    }
    // Helius signs no body: that is said where it is read.
    if (provider !== 'helius') expect(ask(provider, delivery(`${BODY} `, headersFor(BODY)))).toBe(false);
    if (provider === 'quicknode')
      expect(ask(provider, delivery(BODY, headersFor(BODY)), [SECRET], NOW_MS + 300_001)).toBe(false);
  });
});

test('an endpoint is for one provider, and without a setting nobody may deliver', () => {
  const sent = delivery(BODY, { ...RIGHT['alchemy']?.(BODY), ...RIGHT['helius']?.(BODY) });
  const place = { provider: 'alchemy', endpointId: 'main' };
  expect(isAuthentic(setting('alchemy', SECRET), place, sent, NOW_MS)).toBe(true);
  expect(isAuthentic(setting('helius', SECRET), place, sent, NOW_MS)).toBe(false);
  expect(isAuthentic(setting('alchemy', SECRET), { ...place, endpointId: 'other' }, sent, NOW_MS)).toBe(false);
  expect(isAuthentic(setting('alchemy', SECRET), { ...place, endpointId: '__proto__' }, sent, NOW_MS)).toBe(false);
  expect(isAuthentic(setting('constructor', SECRET), { ...place, provider: 'constructor' }, sent, NOW_MS)).toBe(false);
  for (const none of [undefined, '', '{}']) expect(isAuthentic(none, place, sent, NOW_MS)).toBe(false);
  for (const wrong of ['[]', '{"main":{"provider":"alchemy"}}', 'x', setting('alchemy', 'short')]) {
    expect(() => isAuthentic(wrong, place, sent, NOW_MS)).toThrow();
  }
});
