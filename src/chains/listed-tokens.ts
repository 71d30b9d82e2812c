import type { ListedToken } from '#domain/asset/chain.ts';

/**
 * Tokens that are money on their chain: its wrapped native asset, and dollars from their issuers'
 * own lists. Operators list theirs in CHAINS (`tokens`, which replaces this list). A wrong entry
 * would be trusted, so the list is short.
 */
export const LISTED_TOKENS: Readonly<Record<string, readonly ListedToken[]>> = {
  ethereum: [
    cash('WETH', 18, '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'),
    cash('USDC', 6, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'),
    cash('USDT', 6, '0xdAC17F958D2ee523a2206206994597C13D831ec7'),
    cash('DAI', 18, '0x6B175474E89094C44Da98b954EedeAC495271d0F'),
  ],
  base: [
    cash('WETH', 18, '0x4200000000000000000000000000000000000006'),
    cash('USDC', 6, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'),
  ],
  optimism: [
    cash('WETH', 18, '0x4200000000000000000000000000000000000006'),
    cash('USDC', 6, '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
  ],
  arbitrum: [
    cash('WETH', 18, '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'),
    cash('USDC', 6, '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
  ],
  polygon: [
    cash('WPOL', 18, '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'),
    cash('USDC', 6, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'),
  ],
  bsc: [cash('WBNB', 18, '0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c')],
  avalanche: [
    cash('WAVAX', 18, '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7'),
    cash('USDC', 6, '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E'),
  ],
  solana: [
    cash('WSOL', 9, 'So11111111111111111111111111111111111111112'),
    cash('USDC', 6, 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'),
    cash('USDT', 6, 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'),
    // Both are of Token-2022, and their issuer can take or freeze the balance of any account.
    cash('PYUSD', 6, '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo'),
    cash('USDG', 6, '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH'),
  ],
};

function cash(symbol: string, decimals: number, address: string): ListedToken {
  return { address, symbol, decimals, isCash: true };
}
