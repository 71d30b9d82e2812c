import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, items } from '#monitors/monitor.ts';
import type { NetworkNames, NetworkOf } from '#monitors/networks.ts';
import { chainNamed, chainOfHexId, chainsByName } from '#monitors/networks.ts';
import { EMPTY_REPORT, hashIn, kindOf, reportOf } from '#monitors/report.ts';

/** The lists in a body. The last one is that of Solana and Bitcoin. */
const LISTS = [
  'txs',
  'txsInternal',
  'logs',
  'erc20Transfers',
  'erc20Approvals',
  'nftTransfers',
  'nftTokenApprovals',
  'transactions',
] as const;

/** Moralis's names of networks, in `network`. EVM chains have a chain id in its place. */
const SOLANA: NetworkNames<NetworkOf<'solana'>> = { solana: ['mainnet'], 'solana-devnet': ['devnet'] };
const BITCOIN: NetworkNames<NetworkOf<'bip122'>> = {
  bitcoin: ['mainnet'],
  'bitcoin-testnet4': ['testnet4'],
  'bitcoin-signet': ['signet'],
};
const OTHER_CHAINS = [chainsByName(SOLANA), chainsByName(BITCOIN)];

const SIGNATURE = /^0x[0-9a-f]{64}$/;

/**
 * Moralis Streams: `0x` and hex keccak256 of the raw body followed by the secret. Each event comes
 * twice, before and after its block is deep (on Bitcoin also before it has one), in any order. A
 * body of empty lists is the test that every new stream begins with. Solana and Bitcoin have one
 * list of whole transactions, and the names of their networks. Both have a `mainnet`, so the rows
 * decide which chain it is.
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
    const evm = chainOfHexId(chainId);
    const network = field(body, 'network');
    const [name] = Array.isArray(network) ? items(network) : [network];
    const chains = evm === undefined ? OTHER_CHAINS.flatMap((names) => chainNamed(names, name) ?? []) : [evm];
    const kind = kindOf(body, evm === undefined ? name : chainId);
    const entryOf = (row: unknown) => ({
      chain: chains.find((one) => hashIn(one, row) !== null) ?? chains[0],
      row,
      kind,
    });
    const lists = LISTS.map((list) => field(body, list)).filter((list) => Array.isArray(list));
    const rows = lists.flatMap(items);
    // A body of empty lists is a test.
    if (lists.length > 0 && rows.length === 0) return EMPTY_REPORT;
    return reportOf((lists.length === 0 ? [body] : rows).map(entryOf));
  },
};
