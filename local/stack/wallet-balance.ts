import { address, getAddressDecoder } from '@solana/kit';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import { addressOfPublicKey } from '#chains/bitcoin/rules/address.ts';
import { GENESIS, networkOf } from '#chains/bitcoin/rules/network.ts';
import { ED25519 } from '#mpc/ed25519.ts';
import type { LocalBitcoinChain } from '../bitcoin/chain.ts';
import type { LocalSolanaChain } from '../solana/chain.ts';
import { mintTo, newToken, programOfMint } from '../solana/tokens.ts';

const SOL = 10n ** 9n;
const DOLLAR = 10n ** 6n;

/** The balances as a chain itself reports them, and the name of its native asset. */
export interface WalletBalance {
  readonly native: { readonly symbol: string; readonly decimals: number };
  readonly balance: (of: string) => Promise<bigint>;
  readonly tokenBalance: (token: string, of: string) => Promise<bigint>;
}

/** Returns the balances of the local chain, and a recipient outside the vault. */
export function solanaBalance(chain: LocalSolanaChain) {
  const recipient = getAddressDecoder().decode(ED25519.encodePoint(ED25519.generator));
  return {
    recipient: recipient,
    native: { symbol: 'SOL', decimals: 9 },
    /** Pays 10 SOL, and 1000 of a new token. Returns the mint of the token. */
    fund: (wallet: string): string => {
      chain.airdrop(address(wallet), 10n * SOL);
      const mint = newToken(chain);
      mintTo(chain, mint, address(wallet), 1000n * DOLLAR);
      return mint;
    },
    balance: async (of: string) => chain.account(address(of))?.lamports ?? 0n,
    tokenBalance: async (mint: string, of: string) =>
      tokenAccountIn(chain.account(tokenAccountOf(address(of), address(mint), programOfMint(chain, address(mint)))))
        ?.units ?? 0n,
  };
}

/** Returns the balances of a regtest, and a recipient whose key is the number one. */
export function bitcoinBalance(chain: LocalBitcoinChain) {
  const network = networkOf(`bip122:${GENESIS.regtest}`);
  if (network === null) throw new Error('regtest is a network');
  return {
    recipient: addressOfPublicKey(network, secp256k1.Point.BASE.toBytes()),
    native: { symbol: 'BTC', decimals: 8 },
    balance: async (of: string) => chain.balance(of),
    tokenBalance: async () => 0n,
  };
}
