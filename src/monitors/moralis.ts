import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { BITCOIN, field, hintsOn, items, idsIn, SOLANA } from '#monitors/monitor.ts';

/** The lists in a body, and the name of the transaction hash in each. */
const LISTS = [
  ['txs', 'hash'],
  ['txsInternal', 'transactionHash'],
  ['logs', 'transactionHash'],
  ['erc20Transfers', 'transactionHash'],
  ['nftTransfers', 'transactionHash'],
] as const;

const SIGNATURE = /^0x[0-9a-f]{64}$/;

/**
 * Moralis Streams: `0x` and hex keccak256 of the raw body followed by the secret. Each event comes
 * twice, before and after its block is deep (on Bitcoin also before it has one), in any order. A
 * body of empty lists is the test that every new stream begins with. Solana and Bitcoin have one
 * list of whole transactions, and the names of their networks, of which only mainnets are known
 * here.
 */
export const moralis: Monitor = {
  checkHeaders(header, secrets) {
    const signature = header('x-signature');
    if (signature === null || !SIGNATURE.test(signature)) return null;
    return (body) => {
      // The secret follows the body, so the body is hashed once for all secrets. Web Crypto has no
      // Keccak, and in JavaScript it takes tens of milliseconds for a body of 1 MiB.
      const hashed = keccak_256.create().update(body);
      const expected = secrets.map((secret) => bytesToHex(hashed.clone().update(utf8ToBytes(secret)).digest()));
      // Every hash is compared, so the time does not reveal which secret matched.
      return Promise.resolve(expected.filter((hash) => constantTimeEqual(signature, `0x${hash}`)).length > 0);
    };
  },
  read(body) {
    const chainId = field(body, 'chainId');
    const isEvm = typeof chainId === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(chainId);
    const hashes = LISTS.flatMap(([list, name]) => items(field(body, list)).map((row) => field(row, name)));
    if (isEvm) return { hints: hintsOn(`eip155:${BigInt(chainId)}`, hashes), alarm: null };
    const isMain = items(field(body, 'network')).includes('mainnet');
    const whole = field(body, 'transactions');
    const hints = [SOLANA, BITCOIN].flatMap((chain) => hintsOn(isMain ? chain : undefined, idsIn(chain, whole)));
    return { hints, alarm: null };
  },
};
