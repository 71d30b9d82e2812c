/**
 * Attack: a stranger with the address of a co-signer sends an endless body, so that the co-signer
 *   runs out of memory and all sessions end.
 * Attacker: network
 * Co-signers: 0
 * Finding: 2.11
 * Defence: headers, time, length and signature are checked before the body, and reading stops at
 *   the first byte above four million.
 */
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  cosignerRequestBytes,
  REQUEST_BODY_HASH,
  REQUEST_SIGNATURE,
  REQUEST_TIME,
} from '#domain/access/cosigner-request.ts';
import { importPrivate } from '#mpc/envelope.ts';
import { identitySecrets } from '#mpc/identity.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { startCosigners } from '../../cosigner/cosigners.ts';

const MAX_BODY_BYTES = 4_000_000;
/** The size of the body that the stranger sends: five times the limit of a co-signer. */
const WHOLE_BYTES = 5 * MAX_BODY_BYTES;
const CHUNK_BYTES = 50_000;
/**
 * The number of coordinator requests that are answered before the stranger sends the next part of
 * the body.
 */
const ANSWERS_BETWEEN = 20;

let cosigners: Cosigners;
beforeAll(async () => {
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());

/** Returns headers of the right form whose signature is by no known key. */
const plausible = () => ({
  [REQUEST_TIME]: String(Date.now()),
  [REQUEST_BODY_HASH]: HASH,
  [REQUEST_SIGNATURE]: 'A'.repeat(86),
});
/** The hash of another body than the one that is sent. */
const HASH = '00'.repeat(32);

/** Returns headers that the coordinator would send before another body. */
async function signedHeaders(): Promise<Record<string, string>> {
  const key = await importPrivate('Ed25519', identitySecrets(cosigners.coordinatorSecret).signing, ['sign']);
  const atMs = String(Date.now());
  const bytes = cosignerRequestBytes({ cosigner: '1', path: 'v1/pair/2/open', atMs, bodyHash: HASH });
  const signature = Buffer.from(await crypto.subtle.sign('Ed25519', key, bytes)).toString('base64url');
  return { [REQUEST_TIME]: atMs, [REQUEST_BODY_HASH]: HASH, [REQUEST_SIGNATURE]: signature };
}

interface Streamed {
  readonly status: number;
  readonly code: string;
  /** The number of bytes of the body that were sent before the answer arrived. */
  readonly sentBytes: number;
}

/**
 * Sends the headers, then the body in parts, and stops when an answer arrives. Between two parts
 * the co-signer answers other requests, so an early refusal of the parts so far arrives in that
 * time. The function needs no clock, and a co-signer that waits for the whole body gets it.
 */
async function stream(headers: Record<string, string>, partBytes: readonly number[]): Promise<Streamed> {
  const url = `${cosigners.originOf(1)}/v1/pair/2/open`;
  const request = httpRequest(url, { method: 'POST', headers, agent: false });
  // The co-signer closes the connection of a body that it refuses.
  request.on('error', () => {});
  const answers: IncomingMessage[] = [];
  const answered = new Promise<IncomingMessage>((resolve) => {
    request.once('response', (response) => {
      answers.push(response);
      resolve(response);
    });
  });
  request.flushHeaders();
  let sentBytes = 0;
  for (const bytes of partBytes) {
    for (let i = 0; i < ANSWERS_BETWEEN && answers.length === 0; i++) await cosigners.all[0].call('pairs/status', {});
    if (answers.length > 0) break;
    for (let sent = 0; sent < bytes && answers.length === 0; sent += CHUNK_BYTES) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, bytes - sent));
      sentBytes += chunk.length;
      await new Promise<void>((resolve) => {
        request.write(chunk, () => resolve());
      });
    }
  }
  if (answers.length === 0) request.end();
  const response = await answered;
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += String(part);
  request.destroy();
  const { refusal } = JSON.parse(text) as { readonly refusal: { readonly code: string } };
  return { status: response.statusCode ?? 0, code: refusal.code, sentBytes };
}

test.each<[string, () => Record<string, string>]>([
  ['without headers', () => ({})],
  ['without a signature', () => ({ ...plausible(), [REQUEST_SIGNATURE]: '' })],
  ['without the hash of its body', () => ({ ...plausible(), [REQUEST_BODY_HASH]: '' })],
  ['with a signature of no key', plausible],
  ['with half a signature', () => ({ ...plausible(), [REQUEST_SIGNATURE]: 'A'.repeat(43) })],
  ['of ten minutes ago', () => ({ ...plausible(), [REQUEST_TIME]: String(Date.now() - 600_000) })],
  ['with a word as time', () => ({ ...plausible(), [REQUEST_TIME]: 'now' })],
])('a stream %s is refused before a single byte of the body is sent', async (_name, headers) => {
  const refused = await stream(headers(), [WHOLE_BYTES]);
  expect(refused).toEqual({ status: 401, code: 'not-my-coordinator', sentBytes: 0 });
});

test('a body with a declared length beyond the limit is refused before a single byte is sent', async () => {
  const headers = { ...plausible(), 'content-length': String(MAX_BODY_BYTES + 1) };
  expect(await stream(headers, [MAX_BODY_BYTES + 1])).toEqual({ status: 413, code: 'body-too-large', sentBytes: 0 });
});

test('a co-signer reads four million bytes of a plausible stream, and refuses it at the next byte', async () => {
  const parts = [MAX_BODY_BYTES, 1, WHOLE_BYTES - MAX_BODY_BYTES - 1];
  const refused = await stream(await signedHeaders(), parts);
  expect(refused).toEqual({ status: 413, code: 'body-too-large', sentBytes: MAX_BODY_BYTES + 1 });
});

test('a body with the signed headers of another body is refused', async () => {
  const whole = { sentBytes: MAX_BODY_BYTES };
  const refused = await stream(await signedHeaders(), [MAX_BODY_BYTES]);
  expect(refused).toEqual({ status: 401, code: 'not-my-coordinator', ...whole });
});
