import { concatBytes, randomBytes } from '@noble/hashes/utils.js';
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
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
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

/** The content of extensions of Token-2022 by their numbers. */
export type Extensions = Readonly<Record<number, Uint8Array>>;

/** Returns a new token of Token-2022 without any holder. */
export function newToken2022(chain: LocalSolanaChain, extensions: Extensions = {}, decimals = 6): Address {
  const mint = getAddressDecoder().decode(randomBytes(32));
  chain.put(account(mint, mint2022(extensions, decimals), TOKEN_2022));
  return mint;
}

/** Returns the content of a mint of Token-2022: the base, its filling, its type and extensions. */
export function mint2022(extensions: Extensions, decimals: number): Uint8Array {
  const base = getMintEncoder().encode({
    mintAuthority: AUTHORITY,
    supply: 0n,
    decimals,
    isInitialized: true,
    freezeAuthority: AUTHORITY,
  });
  const parts = Object.entries(extensions).map(([type, content]) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(Number.parseInt(type, 10), 0);
    head.writeUInt16LE(content.length, 2);
    return concatBytes(head, content);
  });
  if (parts.length === 0) return Uint8Array.from(base);
  return concatBytes(Uint8Array.from(base), new Uint8Array(165 - base.length), Uint8Array.of(1), ...parts);
}

/** Sets the extensions of a mint, as its authorities do. */
export function replaceExtensions(chain: LocalSolanaChain, mint: Address, extensions: Extensions): void {
  const before = chain.account(mint);
  if (before === null) throw new Error('no such mint');
  const data = mint2022(extensions, before.data[44] ?? 0);
  data.set(before.data.subarray(0, 82), 0);
  chain.put(account(mint, data, TOKEN_2022));
}

/**
 * Returns the extension of a fee: the same points from the first epoch on, or others from a later
 * one.
 */
export function feeExtension(
  points: number,
  { most = 2n ** 64n - 1n, later = points, from = 0n }: { most?: bigint; later?: number; from?: bigint } = {},
): Uint8Array {
  const data = Buffer.alloc(108);
  const write = (at: number, epoch: bigint, of: number) => {
    data.writeBigUInt64LE(epoch, at);
    data.writeBigUInt64LE(most, at + 8);
    data.writeUInt16LE(of, at + 16);
  };
  write(72, 0n, points);
  write(90, from, later);
  return data;
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
  const programAddress = programOfMint(chain, mint);
  const token = tokenAccountOf(owner, mint, programAddress);
  const opened = { payer: signer, ata: token, owner, mint, tokenProgram: programAddress };
  return chain.carryOut(AUTHORITY, [
    getCreateAssociatedTokenIdempotentInstruction(opened),
    getMintToInstruction({ mint, token, mintAuthority: signer, amount }, { programAddress }),
  ]).hash;
}

/** Transfers tokens from an account outside the vault. */
export function payTokens(
  chain: LocalSolanaChain,
  mint: Address,
  { from, to, amount, decimals = 6 }: { from: Address; to: Address; amount: bigint; decimals?: number },
): string {
  const signer = createNoopSigner(from);
  const programAddress = programOfMint(chain, mint);
  const [source, destination] = [tokenAccountOf(from, mint, programAddress), tokenAccountOf(to, mint, programAddress)];
  const opened = { payer: signer, ata: destination, owner: to, mint, tokenProgram: programAddress };
  const moved = { source, mint, destination, authority: signer, amount, decimals };
  return chain.carryOut(from, [
    getCreateAssociatedTokenIdempotentInstruction(opened),
    getTransferCheckedInstruction(moved, { programAddress }),
  ]).hash;
}

/** Returns the token program that a mint belongs to. */
export function programOfMint(chain: LocalSolanaChain, mint: Address): Address {
  return chain.account(mint)?.owner === TOKEN_2022 ? TOKEN_2022 : TOKEN_PROGRAM_ADDRESS;
}
