import { BITCOIN_MAINNET_GENESIS } from '#domain/asset/chain.ts';

/**
 * The built-in chains with a public network, by name, each with its CAIP-2. `src/chains/` is on the
 * same floor and cannot be imported, so `test/monitors/networks.test.ts` compares the two.
 */
export const NETWORKS = {
  ethereum: 'eip155:1',
  base: 'eip155:8453',
  arbitrum: 'eip155:42161',
  optimism: 'eip155:10',
  polygon: 'eip155:137',
  bsc: 'eip155:56',
  avalanche: 'eip155:43114',
  linea: 'eip155:59144',
  scroll: 'eip155:534352',
  gnosis: 'eip155:100',
  unichain: 'eip155:130',
  plasma: 'eip155:9745',
  hyperevm: 'eip155:999',
  'ethereum-sepolia': 'eip155:11155111',
  'base-sepolia': 'eip155:84532',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-devnet': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  bitcoin: `bip122:${BITCOIN_MAINNET_GENESIS}`,
  'bitcoin-testnet4': 'bip122:00000000da84f2bafbbc53dee25a72ae',
  'bitcoin-signet': 'bip122:00000008819873e925422c1ff0f99f7c',
} as const;

type Network = keyof typeof NETWORKS;

/** The networks of a family, by the first part of their CAIP-2. */
export type NetworkOf<Namespace extends string> = {
  [Name in Network]: (typeof NETWORKS)[Name] extends `${Namespace}:${string}` ? Name : never;
}[Network];

/**
 * The names that a provider uses for each network, old and new, in lower case and with hyphens. The
 * list of a network that the provider does not serve is empty. The compiler requires each network.
 */
export type NetworkNames<Served extends Network = Network> = Readonly<Record<Served, readonly string[]>>;

/** Returns the chains of a provider by each of its names for them. */
export function chainsByName<Served extends Network>(names: NetworkNames<Served>): ReadonlyMap<string, string> {
  return new Map(
    (Object.entries(names) as [Served, readonly string[]][]).flatMap(([network, known]) =>
      known.map((name) => [name, NETWORKS[network]] as const),
    ),
  );
}

/**
 * Returns the chain that a provider names, in upper or lower case, with hyphens or underscores;
 * undefined for another one.
 */
export function chainNamed(chains: ReadonlyMap<string, string>, name: unknown): string | undefined {
  return typeof name === 'string' ? chains.get(name.toLowerCase().replaceAll('_', '-')) : undefined;
}

/** Returns the EVM chain with a hexadecimal chain id; undefined for any other value. */
export function chainOfHexId(chainId: unknown): string | undefined {
  const isId = typeof chainId === 'string' && /^0x[0-9a-fA-F]{1,16}$/.test(chainId);
  return isId ? `eip155:${BigInt(chainId)}` : undefined;
}
