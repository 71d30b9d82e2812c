import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { bytesToNumberBE } from '@noble/curves/utils.js';
import { parsePoint, SECRETS } from '#mpc/secp256k1.ts';
import { hashToCurve, parseCompressed } from '#curve/secp256k1.ts';
import ecdh from './ecdh-secp256k1.json' with { type: 'json' };
import rfc9380 from './rfc9380.json' with { type: 'json' };

export function testCurveVectors(): void {
  test('ECDH secp256k1 of Wycheproof: products with a secret and with a public scalar have the x of the vectors', () => {
    const wrong = ecdh.tests.filter(([, , , point = '', scalar = '', shared]) => {
      const parsed = parsePoint(hexToBytes(String(point)));
      const factor = bytesToNumberBE(hexToBytes(String(scalar)));
      const products = parsed === null ? [] : [parsed.multiply(SECRETS.of(factor)), parsed.multiplyPublic(factor)];
      const isRefused = shared === '' && parsed === null;
      const x = bytesToNumberBE(hexToBytes(String(shared)));
      return !isRefused && (products.length === 0 || products.some((product) => product.toAffine().x !== x));
    });
    expect(ecdh.tests.length).toBe(ecdh.kept);
    expect(wrong).toEqual([]);
  });

  test('RFC 9380, J.8.1: the points of the messages are those of the RFC', () => {
    const dst = utf8ToBytes(rfc9380.dst);
    for (const [message, repeated, times, point] of rfc9380.tests) {
      const text = `${message}${String(repeated).repeat(Number(times))}`;
      expect(hashToCurve(utf8ToBytes(text), dst)).toEqual(parseCompressed(hexToBytes(String(point))));
    }
  });
}
