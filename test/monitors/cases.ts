import { createHmac } from 'node:crypto';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { keccak256 } from 'viem';
import type { MONITORS } from '#monitors/endpoint.ts';

/** The cases that each provider has in the tests of signatures and of hints. */
interface MonitorCases {
  readonly secret: string;
  /** Returns the headers of an authentic delivery of a body under the secret, at `NOW_MS`. */
  readonly headers: (body: string) => Readonly<Record<string, string>>;
  /** False where the headers authenticate the sender alone. */
  readonly isBodySigned: boolean;
  /** The header with the id of a delivery, or undefined where the scheme has none. */
  readonly idHeader: string | undefined;
  /** A body in the form of the provider, and its hints as `chain hash`. */
  readonly sample: { readonly body: unknown; readonly hints: readonly string[] };
}

export const NOW_MS = 1_614_265_330_000;
export const SECRET = 'a-signing-key-of-this-story';

const TIMESTAMP = '1614265330';
const HASH = `0x${'ab'.repeat(32)}`;
const SIGNATURE = '5'.repeat(88);
const STANDARD_KEY = Buffer.alloc(24, 9);
const hmacOf = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');

/** A provider without cases does not compile. */
export const CASES = {
  alchemy: {
    secret: SECRET,
    headers: (body) => ({ 'x-alchemy-signature': hmacOf(body) }),
    isBodySigned: true,
    idHeader: undefined,
    sample: { body: { event: { network: 'ETH_MAINNET', activity: [{ hash: HASH }] } }, hints: [`eip155:1 ${HASH}`] },
  },
  helius: {
    secret: SECRET,
    headers: () => ({ authorization: SECRET }),
    isBodySigned: false,
    idHeader: undefined,
    sample: { body: [{ signature: SIGNATURE }], hints: [`solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp ${SIGNATURE}`] },
  },
  'helius-devnet': {
    secret: SECRET,
    headers: () => ({ authorization: SECRET }),
    isBodySigned: false,
    idHeader: undefined,
    sample: { body: [{ signature: SIGNATURE }], hints: [`solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 ${SIGNATURE}`] },
  },
  moralis: {
    secret: SECRET,
    headers: (body) => ({ 'x-signature': keccak256(concatBytes(utf8ToBytes(body), utf8ToBytes(SECRET))) }),
    isBodySigned: true,
    idHeader: undefined,
    sample: { body: { chainId: '0x89', txs: [{ hash: HASH }] }, hints: [`eip155:137 ${HASH}`] },
  },
  quicknode: {
    secret: SECRET,
    headers: (body) => ({
      'x-qn-nonce': 'n-1',
      'x-qn-timestamp': TIMESTAMP,
      'x-qn-signature': hmacOf(`n-1${TIMESTAMP}${body}`),
    }),
    isBodySigned: true,
    idHeader: 'x-qn-nonce',
    sample: { body: { network: 'base-mainnet', transactions: [{ hash: HASH }] }, hints: [`eip155:8453 ${HASH}`] },
  },
  'standard-webhooks': {
    secret: `whsec_${STANDARD_KEY.toString('base64')}`,
    headers: (body) => {
      const mac = createHmac('sha256', STANDARD_KEY).update(`msg_1.${TIMESTAMP}.${body}`);
      const signature = `v1,${mac.digest('base64')}`;
      return { 'webhook-id': 'msg_1', 'webhook-timestamp': TIMESTAMP, 'webhook-signature': signature };
    },
    isBodySigned: true,
    idHeader: 'webhook-id',
    sample: {
      body: { type: 'chain.activity', data: { chain: 'eip155:31337', txHash: HASH } },
      hints: [`eip155:31337 ${HASH}`],
    },
  },
} as const satisfies Readonly<Record<keyof typeof MONITORS, MonitorCases>>;
