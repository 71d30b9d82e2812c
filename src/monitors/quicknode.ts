import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { isHexDigest, isHexHmac } from '#monitors/hmac.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { BITCOIN, field, hintsOn, isRecent, items, idsIn, SOLANA } from '#monitors/monitor.ts';

/** QuickNode's names of chains. */
const NETWORKS = new Map<unknown, string>([
  ['ethereum-mainnet', 'eip155:1'],
  ['base-mainnet', 'eip155:8453'],
  ['arbitrum-mainnet', 'eip155:42161'],
  ['optimism-mainnet', 'eip155:10'],
  ['matic-mainnet', 'eip155:137'],
  ['bnbchain-mainnet', 'eip155:56'],
  ['avalanche-mainnet', 'eip155:43114'],
  ['ethereum-sepolia', 'eip155:11155111'],
  ['base-sepolia', 'eip155:84532'],
  ['solana-mainnet', SOLANA],
  ['solana-devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
  ['bitcoin-mainnet', BITCOIN],
]);

/**
 * QuickNode Streams and Webhooks: hex HMAC-SHA256 over nonce, timestamp and the uncompressed body.
 * The operator's filter returns the body. This monitor reads `{ network, transactions: [{ hash }]
 * }` (Solana: `signature`, Bitcoin: `txid`), alone or in a list, which the wallet templates give.
 */
export const quicknode: Monitor = {
  checkHeaders(header, secrets, nowMs) {
    const [nonce, timestamp] = [header('x-qn-nonce'), header('x-qn-timestamp')];
    const signature = header('x-qn-signature');
    if (nonce === null || !isRecent(timestamp, nowMs) || !isHexDigest(signature)) return null;
    return (body) => isHexHmac(signature, secrets, concatBytes(utf8ToBytes(`${nonce}${timestamp}`), body));
  },
  idHeader: 'x-qn-nonce',
  read(body) {
    const blocks = Array.isArray(body) ? items(body) : [body];
    const hints = blocks.flatMap((block) => {
      const chain = NETWORKS.get(field(block, 'network'));
      return hintsOn(chain, idsIn(chain, field(block, 'transactions')));
    });
    return { hints, alarm: null };
  },
};
