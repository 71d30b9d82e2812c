import { isHexDigest, isHexHmac } from '#monitors/hmac.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, hintsOn, items } from '#monitors/monitor.ts';

/** Alchemy's names of chains. */
const NETWORKS = new Map<unknown, string>([
  ['ETH_MAINNET', 'eip155:1'],
  ['BASE_MAINNET', 'eip155:8453'],
  ['ARB_MAINNET', 'eip155:42161'],
  ['OPT_MAINNET', 'eip155:10'],
  ['MATIC_MAINNET', 'eip155:137'],
  ['BNB_MAINNET', 'eip155:56'],
  ['AVAX_MAINNET', 'eip155:43114'],
  ['ETH_SEPOLIA', 'eip155:11155111'],
  ['BASE_SEPOLIA', 'eip155:84532'],
]);

/**
 * Alchemy Notify, address and NFT activity: hex HMAC-SHA256 over the raw body, keyed with the
 * signing key as displayed. The scheme has no time, so a repeated delivery is detected by its
 * bytes. `event.error` in place of activity means that something was omitted.
 */
export const alchemy: Monitor = {
  checkHeaders(header, secrets) {
    const signature = header('x-alchemy-signature');
    return isHexDigest(signature) ? (body) => isHexHmac(signature, secrets, body) : null;
  },
  read(body) {
    const event = field(body, 'event');
    const hashes = items(field(event, 'activity')).map(
      (row) => field(row, 'hash') ?? field(field(row, 'log'), 'transactionHash'),
    );
    return {
      hints: hintsOn(NETWORKS.get(field(event, 'network')), hashes),
      // The delivery contains the monitor's own text, which is not logged, because it is external
      // input.
      alarm: field(event, 'error') === undefined ? null : 'The delivery omits activity.',
    };
  },
};
