import { BITCOIN_MAINNET_GENESIS } from '#domain/asset/chain.ts';

/**
 * The first 32 hexadecimal characters of each network's genesis block, as CAIP-2 defines them
 * (namespace bip122).
 */
export const GENESIS = {
  mainnet: BITCOIN_MAINNET_GENESIS,
  testnet4: '00000000da84f2bafbbc53dee25a72ae',
  signet: '00000008819873e925422c1ff0f99f7c',
  regtest: '0f9188f13cb7b2c71f2a335e3a4fc328',
} as const;

/** The prefixes of a network's addresses (BIP-173, and the version bytes of base58). */
export interface Network {
  readonly genesis: string;
  readonly bech32: string;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly wif: number;
}

const TEST_VERSIONS = { pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef };

export const NETWORKS: readonly Network[] = [
  { genesis: GENESIS.mainnet, bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
  { genesis: GENESIS.testnet4, bech32: 'tb', ...TEST_VERSIONS },
  { genesis: GENESIS.signet, bech32: 'tb', ...TEST_VERSIONS },
  { genesis: GENESIS.regtest, bech32: 'bcrt', ...TEST_VERSIONS },
];

/** Returns the network of a CAIP-2 id; null for an unknown one, whose address format is unknown. */
export function networkOf(caip2: string): Network | null {
  return NETWORKS.find(({ genesis }) => caip2 === `bip122:${genesis}`) ?? null;
}
