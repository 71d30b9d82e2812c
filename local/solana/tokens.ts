import { randomBytes } from '@noble/hashes/utils.js';
import type { Address, EncodedAccount } from '@solana/kit';
import { createNoopSigner, getAddressDecoder, lamports } from '@solana/kit';
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getMintEncoder,
  getMintToInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import type { LocalSolanaChain } from './chain.ts';

/** Mints every token here, and pays for it. It has no key. */
const AUTHORITY = getAddressDecoder().decode(new Uint8Array(32).fill(0x58));

/** Returns a new token without any holder. */
export function newToken(chain: LocalSolanaChain, decimals = 6): Address {
  const mint = getAddressDecoder().decode(randomBytes(32));
  const data = getMintEncoder().encode({
    mintAuthority: AUTHORITY,
    supply: 0n,
    decimals,
    isInitialized: true,
    freezeAuthority: AUTHORITY,
  });
  chain.put(account(mint, Uint8Array.from(data), TOKEN_PROGRAM_ADDRESS));
  return mint;
}

/** Returns an account in its encoded form. */
export function account(address: Address, data: Uint8Array, programAddress: Address): EncodedAccount {
  return {
    address,
    data,
    executable: false,
    lamports: lamports(10_000_000n),
    programAddress,
    space: BigInt(data.length),
  };
}
/** Mints new tokens into the account of a wallet. */
export function mintTo(chain: LocalSolanaChain, mint: Address, owner: Address, amount: bigint): string {
  if (chain.account(AUTHORITY) === null) chain.airdrop(AUTHORITY, 10_000_000_000n);
  const signer = createNoopSigner(AUTHORITY);
  const token = tokenAccountOf(owner, mint);
  return chain.carryOut(AUTHORITY, [
    getCreateAssociatedTokenIdempotentInstruction({ payer: signer, ata: token, owner, mint }),
    getMintToInstruction({ mint, token, mintAuthority: signer, amount }),
  ]).hash;
}

/** Transfers tokens from an account outside the vault. */
export function payTokens(
  chain: LocalSolanaChain,
  mint: Address,
  { from, to, amount, decimals = 6 }: { from: Address; to: Address; amount: bigint; decimals?: number },
): string {
  const signer = createNoopSigner(from);
  const [source, destination] = [tokenAccountOf(from, mint), tokenAccountOf(to, mint)];
  return chain.carryOut(from, [
    getCreateAssociatedTokenIdempotentInstruction({ payer: signer, ata: destination, owner: to, mint }),
    getTransferCheckedInstruction({ source, mint, destination, authority: signer, amount, decimals }),
  ]).hash;
}
