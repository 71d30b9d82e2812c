import { p256 } from '@noble/curves/nist.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * Plays a browser and its push service as strictly as the real ones: it checks the signature of the
 * sender (RFC 8292), the headers (RFC 8030) and the encryption (RFC 8291, RFC 8188), with a second
 * implementation of these RFCs.
 */

export const bytesOf = (text: string) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
export const base64url = (bytes: Uint8Array) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

export interface Browser {
  readonly privateKey: Uint8Array;
  readonly auth: Uint8Array;
  readonly subscription: {
    readonly endpoint: string;
    readonly keys: { readonly p256dh: string; readonly auth: string };
  };
}

export function newBrowser(
  endpoint: string,
  privateKey = p256.utils.randomSecretKey(),
  auth = crypto.getRandomValues(new Uint8Array(16)),
): Browser {
  const p256dh = base64url(p256.getPublicKey(privateKey, false));
  return { privateKey, auth, subscription: { endpoint, keys: { p256dh, auth: base64url(auth) } } };
}

/**
 * Decrypts by RFC 8291 part 3.4 and RFC 8188, with one record. Throws for a message that is not for
 * this browser.
 */
export async function decrypt(
  { privateKey, auth }: Pick<Browser, 'privateKey' | 'auth'>,
  body: Uint8Array,
): Promise<string> {
  const salt = body.subarray(0, 16);
  const recordSize = new DataView(body.buffer, body.byteOffset).getUint32(16);
  const sender = body.subarray(21, 21 + (body[20] ?? 0));
  const record = body.subarray(21 + sender.length);
  if (sender.length !== 65 || record.length > recordSize) throw new Error('the header is wrong');
  const secret = p256.getSharedSecret(privateKey, sender, true).subarray(1);
  const own = p256.getPublicKey(privateKey, false);
  const keyInfo = concatBytes(utf8ToBytes('WebPush: info\0'), own, sender);
  const ikm = hkdf(sha256, secret, auth, keyInfo, 32);
  const key = hkdf(sha256, ikm, salt, utf8ToBytes('Content-Encoding: aes128gcm\0'), 16);
  const nonce = hkdf(sha256, ikm, salt, utf8ToBytes('Content-Encoding: nonce\0'), 12);
  const aes = await crypto.subtle.importKey('raw', key.slice(), 'AES-GCM', false, ['decrypt']);
  const padded = new Uint8Array(
    await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce.slice() }, aes, record.slice()),
  );
  const end = padded.findLastIndex((byte) => byte !== 0);
  // The byte 2 marks the last record.
  if (padded[end] !== 2) throw new Error('the padding is wrong');
  return new TextDecoder().decode(padded.subarray(0, end));
}

/** Returns the reason for which a push service would refuse this request, or null. */
export async function refusalOf(request: Request, publicKey: string): Promise<string | null> {
  const { headers, url, method } = request;
  if (method !== 'POST') return 'the method is wrong';
  if (headers.get('content-encoding') !== 'aes128gcm') return 'the encoding is wrong';
  if (!/^[0-9]+$/.test(headers.get('ttl') ?? '')) return 'there is no TTL';
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(headers.get('topic') ?? 'x')) return 'the topic is wrong';
  if (!['very-low', 'low', 'normal', 'high', null].includes(headers.get('urgency'))) return 'the urgency is wrong';
  const [, token = '', key] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.get('authorization') ?? '') ?? [];
  if (key !== publicKey) return 'the sender is another';
  const [head = '', claims = '', signature = ''] = token.split('.');
  const read = (text: string) => JSON.parse(new TextDecoder().decode(bytesOf(text))) as Record<string, unknown>;
  if (read(head)['alg'] !== 'ES256') return 'the algorithm is wrong';
  const { aud, exp, sub } = read(claims);
  if (aud !== new URL(url).origin) return 'the audience is wrong';
  const seconds = Date.now() / 1000;
  if (typeof exp !== 'number' || exp < seconds || exp > seconds + 24 * 60 * 60) return 'the expiry is wrong';
  if (typeof sub !== 'string' || !/^(mailto:|https:)/.test(sub)) return 'the subject is wrong';
  const isSigned = p256.verify(bytesOf(signature), utf8ToBytes(`${head}.${claims}`), bytesOf(publicKey), {
    lowS: false,
  });
  return isSigned ? null : 'the signature is wrong';
}
