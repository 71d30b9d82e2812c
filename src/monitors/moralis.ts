import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
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

/**
 * Moralis Streams: `0x` and hex keccak256 of the raw body followed by the secret. Each event comes
 * twice, before and after its block is deep (on Bitcoin also before it has one), in any order. A
 * body of empty lists is the test that every new stream begins with. Solana and Bitcoin have one
 * list of whole transactions, and the names of their networks, of which only mainnets are known
 * here.
 */
export const moralis: Monitor = {
  isAuthentic(delivery, secret) {
    const expected = `0x${bytesToHex(keccak_256(concatBytes(delivery.body, utf8ToBytes(secret))))}`;
    return constantTimeEqual(delivery.header('x-signature') ?? '', expected);
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
