import type { Address, Instruction, Nonce } from '@solana/kit';
import {
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getConstantCodec,
  getInstructionsFromCompiledTransactionMessage,
  getStructCodec,
  getU64Codec,
  getU8Codec,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLifetimeUsingDurableNonce,
} from '@solana/kit';
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstruction,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget';
import {
  getAllocateWithSeedInstruction,
  getInitializeNonceAccountInstruction,
  getTransferSolInstruction,
  getTransferSolInstructionDataDecoder,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  getCreateAssociatedTokenIdempotentInstruction,
  getRevokeInstruction,
  getTransferCheckedInstruction,
  getTransferCheckedInstructionDataDecoder,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { concatBytes } from '@noble/hashes/utils.js';
import { isPublicKey, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { memoInstruction } from '#chains/solana/rules/memo.ts';
import type { DurableNonce, Terms, TokenTerms } from '#chains/solana/rules/payment-terms.ts';
import { nonceAccountOf, nonceSeed, NONCE_SLOTS, programOf, TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { unitsOf } from '#domain/asset/amount.ts';

const NONCE_ACCOUNT_BYTES = 80n;
const SIGNATURE_BYTES = 64;

/** A transfer with its addresses in kit's type. */
export interface Payment {
  readonly wallet: Address;
  readonly to: Address;
  /** Null for SOL. */
  readonly mint: Address | null;
  readonly units: bigint;
  /** Null for none. */
  readonly memo: string | null;
}

/**
 * Returns the one message (version 0, no look-up tables, one signature) of a transfer on these
 * terms. Returns null when the intent holds an invalid address, when the terms do not match its
 * asset, or when their source is the destination.
 */
export function messageBytes(intent: TransferIntent, terms: Terms): Uint8Array | null {
  const payment = paymentOf(intent);
  if (payment === null || (payment.mint === null) !== (terms.token === null)) return null;
  if (!isOtherSource(payment, terms.token)) return null;
  const { wallet } = payment;
  const { anchor } = terms;
  const message = setTransactionMessageFeePayer(wallet, createTransactionMessage({ version: 0 }));
  const instructions = [
    ...opening(wallet, anchor),
    getSetComputeUnitLimitInstruction({ units: terms.unitLimit }),
    getSetComputeUnitPriceInstruction({ microLamports: terms.unitPrice }),
    ...paying(payment, terms.token),
  ];
  const living =
    anchor.kind === 'nonce'
      ? setTransactionMessageLifetimeUsingDurableNonce(
          {
            nonce: anchor.value as Nonce,
            nonceAccountAddress: nonceAccountOf(wallet, anchor.nonceSlot),
            nonceAuthorityAddress: wallet,
          },
          message,
        )
      : setTransactionMessageLifetimeUsingBlockhash(
          // The height matters only to kit's own senders: it is not part of the bytes.
          { blockhash: anchor.blockhash, lastValidBlockHeight: 0n },
          message,
        );
  return encoded(appendTransactionMessageInstructions(instructions, living));
}

/**
 * Returns a whole transaction that only pays, without a signature and without a lifetime, for the
 * simulation of its compute units. It has the largest possible limit, and no price.
 */
export function simulationMessage(intent: TransferIntent, token: TokenTerms | null): Uint8Array {
  const payment = paymentOf(intent);
  if (payment === null) throw new Error('a stored intent is not in canonical form');
  const message = setTransactionMessageFeePayer(payment.wallet, createTransactionMessage({ version: 0 }));
  const lifetime = { blockhash: blockhash(SYSTEM_PROGRAM_ADDRESS), lastValidBlockHeight: 0n };
  const living = setTransactionMessageLifetimeUsingBlockhash(lifetime, message);
  const unsigned = new Uint8Array(1 + SIGNATURE_BYTES);
  unsigned[0] = 1;
  return concatBytes(unsigned, encoded(appendTransactionMessageInstructions(paying(payment, token), living)));
}

function encoded(message: Parameters<typeof compileTransactionMessage>[0]): Uint8Array {
  return Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(message)));
}

/** Returns null when the intent holds an invalid address. */
export function paymentOf({ from, to, tokenAddress, amount, memo }: TransferIntent): Payment | null {
  if (!isPublicKey(from) || !isPublicKey(to)) return null;
  if (tokenAddress !== null && !isPublicKey(tokenAddress)) return null;
  return { wallet: from, to, mint: tokenAddress, units: unitsOf(amount), memo: memo ?? null };
}

/**
 * `AllocateWithSeed` fails on an account that already has data, so an opening happens once.
 * `CreateAccountWithSeed` would also fail on an account that has received a lamport, so any
 * attacker could block it.
 */
function opening(wallet: Address, anchor: DurableNonce): readonly Instruction[] {
  if (anchor.kind === 'nonce') return [];
  const nonceAccount = nonceAccountOf(wallet, anchor.nonceSlot);
  const signer = createNoopSigner(wallet);
  return [
    getTransferSolInstruction({ source: signer, destination: nonceAccount, amount: anchor.rent }),
    getAllocateWithSeedInstruction({
      newAccount: nonceAccount,
      baseAccount: signer,
      base: wallet,
      seed: nonceSeed(anchor.nonceSlot),
      space: NONCE_ACCOUNT_BYTES,
      programAddress: SYSTEM_PROGRAM_ADDRESS,
    }),
    getInitializeNonceAccountInstruction({ nonceAccount, nonceAuthority: wallet }),
  ];
}

/**
 * Reports whether a named source is neither the associated account, which is never named so that
 * bytes have one form, nor the account of the recipient, because a payment from an account to
 * itself would succeed and move nothing.
 */
function isOtherSource({ wallet, to, mint }: Payment, token: TokenTerms | null): boolean {
  if (token?.source === undefined || mint === null) return true;
  const associated = [wallet, to].map((owner) => tokenAccountOf(owner, mint, programOf(token)));
  return !associated.includes(token.source);
}

/**
 * Returns the instructions of the payment itself. A payment from an account other than the
 * associated one begins with `Revoke`. The token program accepts a transfer from the owner of an
 * account or from its delegate, and a coordinator must not pay with the tokens of another owner who
 * has made the wallet a delegate. After `Revoke` an account has no delegate, so the transfer
 * succeeds only when the wallet is the owner. Co-signers read no chain, so the bytes must prove it.
 * The program also compares the mint. When the wallet is not the owner or the mint differs, the
 * whole transaction fails, including `Revoke`, and only its fee is lost. The same holds for both
 * token programs, and a mint belongs to one of them.
 */
function paying({ wallet, to, mint, units, memo }: Payment, token: TokenTerms | null): readonly Instruction[] {
  const signer = createNoopSigner(wallet);
  // The memo precedes the transfer, where Solana Pay puts it and programs that require a memo
  // expect it.
  const memos = memo === null ? [] : [memoInstruction(memo)];
  if (mint === null || token === null) {
    return [...memos, getTransferSolInstruction({ source: signer, destination: to, amount: units })];
  }
  const { decimals, withheld } = token;
  const program = programOf(token);
  const { source = tokenAccountOf(wallet, mint, program) } = token;
  const destination = tokenAccountOf(to, mint, program);
  const opened = { payer: signer, ata: destination, owner: to, mint, tokenProgram: program };
  const moved = { source, mint, destination, authority: signer, amount: units, decimals };
  const revoked = getRevokeInstruction({ source, owner: signer }, { programAddress: program });
  const checked = getTransferCheckedInstruction(moved, { programAddress: program });
  return [
    ...(token.opensAccount ? [getCreateAssociatedTokenIdempotentInstruction(opened)] : []),
    ...(token.source === undefined ? [] : [revoked]),
    ...memos,
    withheld === undefined ? checked : { ...checked, data: withheldData({ units, decimals, withheld }) },
  ];
}

/**
 * `TransferCheckedWithFee` of Token-2022: its number, the amount, the decimals and the fee, on the
 * accounts of `TransferChecked`. The program compares the fee with that of the mint, and accepts 0
 * for a mint without one. So bytes prove what the recipient gets, and a co-signer reads no chain.
 */
const WITHHELD = getStructCodec([
  ['instruction', getConstantCodec(Uint8Array.of(26, 1))],
  ['units', getU64Codec()],
  ['decimals', getU8Codec()],
  ['withheld', getU64Codec()],
]);

function withheldData(terms: { readonly units: bigint; readonly decimals: number; readonly withheld: bigint }) {
  return WITHHELD.encode({ instruction: undefined, ...terms });
}

/**
 * Returns the terms that bytes have if they are a transfer of this wallet. Only building the
 * message again proves that they are. Returns null for bytes that match no terms.
 */
export function termsIn(bytes: Uint8Array, wallet: Address): Terms | null {
  try {
    const message = getCompiledTransactionMessageDecoder().decode(bytes);
    if (message.version !== 0) return null;
    const instructions = getInstructionsFromCompiledTransactionMessage(message);
    const of = (program: Address) => instructions.filter(({ programAddress }) => programAddress === program);
    const [limit, price] = of(COMPUTE_BUDGET_PROGRAM_ADDRESS);
    const anchor = anchorIn(of(SYSTEM_PROGRAM_ADDRESS), wallet, message.lifetimeToken);
    if (limit?.data === undefined || price?.data === undefined || anchor === null) return null;
    return {
      anchor,
      unitLimit: getSetComputeUnitLimitInstructionDataDecoder().decode(limit.data).units,
      unitPrice: getSetComputeUnitPriceInstructionDataDecoder().decode(price.data).microLamports,
      token: tokenTermsIn(
        instructions.filter(({ programAddress: one }) => one === TOKEN_PROGRAM_ADDRESS || one === TOKEN_2022),
        wallet,
        of(ASSOCIATED_TOKEN_PROGRAM_ADDRESS).length > 0,
      ),
    };
  } catch {
    // kit throws for bytes that are not a valid encoding.
    return null;
  }
}

function tokenTermsIn(instructions: readonly Instruction[], wallet: Address, opensAccount: boolean): TokenTerms | null {
  const moved = instructions.at(-1);
  if (moved?.data === undefined) return null;
  const is2022 = moved.programAddress === TOKEN_2022;
  const terms = is2022 ? WITHHELD.decode(moved.data) : getTransferCheckedInstructionDataDecoder().decode(moved.data);
  const { decimals } = terms;
  const withheld = 'withheld' in terms ? { withheld: terms.withheld } : {};
  const [source, mint] = moved.accounts ?? [];
  if (source === undefined || mint === undefined) return null;
  const isAssociated = source.address === tokenAccountOf(wallet, mint.address, moved.programAddress);
  return { decimals, opensAccount, ...withheld, ...(isAssociated ? {} : { source: source.address }) };
}

function anchorIn(system: readonly Instruction[], wallet: Address, lifetime: string): DurableNonce | null {
  const [first] = system;
  const [data, accounts] = [first?.data, first?.accounts];
  if (data === undefined || accounts === undefined) return null;
  const slotOf = (account: Address | undefined) =>
    Array.from({ length: NONCE_SLOTS }, (_, slot) => slot).find((slot) => nonceAccountOf(wallet, slot) === account);
  // The first byte of the four-byte instruction number: 4 advances a nonce, 2 sends lamports.
  if (data[0] === 4) {
    const slot = slotOf(accounts[0]?.address);
    return slot === undefined ? null : { kind: 'nonce', nonceSlot: slot, value: lifetime };
  }
  const slot = slotOf(accounts[1]?.address);
  if (slot === undefined) return null;
  const { amount: rent } = getTransferSolInstructionDataDecoder().decode(data);
  return { kind: 'opening', nonceSlot: slot, blockhash: blockhash(lifetime), rent };
}
