import type { Address, CompiledTransactionMessage, Instruction } from '@solana/kit';
import { getInstructionsFromCompiledTransactionMessage } from '@solana/kit';
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget';
import {
  getAllocateWithSeedInstructionDataDecoder,
  getInitializeNonceAccountInstructionDataDecoder,
  getTransferSolInstructionDataDecoder,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system';
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { storedNonce } from '#chains/solana/client/accounts.ts';
import { bytesOf, seededAddress } from '#chains/solana/rules/address.ts';
import type { Account } from '#chains/solana/client/account-answers.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import { durableNonce } from '#local/solana/durable-nonce.ts';
import { openAccount, transfer } from './solana-tokens.ts';

/** An account, of the system program where no owner is named. */
export type Held = Pick<Account, 'lamports' | 'data'> & Partial<Pick<Account, 'owner'>>;
export type State = ReadonlyMap<Address, Held>;

export type Message = CompiledTransactionMessage & { readonly lifetimeToken: string };

export interface Outcome {
  readonly state: State;
  /** The error in the network's format; null when the message succeeded. */
  readonly error: unknown;
  readonly sent: readonly Sent[];
}

/** A transfer of lamports or tokens by one instruction. */
export interface Sent {
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  /** The mint; absent for lamports. */
  readonly token?: Address;
}

const NOTHING: Held = { lamports: 0n, data: new Uint8Array() };
const SIGNATURE_FEE = 5_000n;
const MICRO = 1_000_000n;
/** Numbers of system program instructions; their data begins with this number in four bytes. */
const [TRANSFER, ADVANCE_NONCE, INITIALISE_NONCE, ALLOCATE_WITH_SEED] = [2, 4, 6, 9];
/** Error codes of the system program. */
const [IN_USE, TOO_LITTLE] = [0, 1];

/**
 * Returns the minimum balance of an account with this data length in lamports, which is two years
 * of rent.
 */
export function rentOf(bytes: bigint): bigint {
  return (128n + bytes) * 3_480n * 2n;
}

export function heldBy(state: State, at: Address): Held {
  return state.get(at) ?? NOTHING;
}

export function nonceOf(state: State, at: Address) {
  const { lamports, data } = heldBy(state, at);
  return storedNonce({ lamports, data, owner: SYSTEM_PROGRAM_ADDRESS, isExecutable: false });
}

function instructionsOf(message: Message): readonly Instruction[] {
  return getInstructionsFromCompiledTransactionMessage(message);
}

/** Returns the account whose durable nonce this message uses; null when it uses a blockhash. */
export function nonceAccountIn(message: Message): Address | null {
  const [first] = instructionsOf(message);
  const isAdvance = first?.programAddress === SYSTEM_PROGRAM_ADDRESS && first.data?.[0] === ADVANCE_NONCE;
  return isAdvance ? (first.accounts?.[0]?.address ?? null) : null;
}

/**
 * Returns the price of a message in millionths of a lamport per compute unit, and its whole fee in
 * lamports.
 */
export function priceOf(message: Message): { readonly price: bigint; readonly fee: bigint } {
  const [limit, price] = instructionsOf(message).filter((one) => one.programAddress === COMPUTE_BUDGET_PROGRAM_ADDRESS);
  if (limit?.data === undefined || price?.data === undefined) return { price: 0n, fee: SIGNATURE_FEE };
  const units = BigInt(getSetComputeUnitLimitInstructionDataDecoder().decode(limit.data).units);
  const { microLamports } = getSetComputeUnitPriceInstructionDataDecoder().decode(price.data);
  return { price: microLamports, fee: SIGNATURE_FEE + (units * microLamports + MICRO - 1n) / MICRO };
}

/**
 * Executes a message that sends SOL or tokens. Its fee is paid and its durable nonce is used even
 * when it fails; its other instructions take effect together or not at all.
 */
export function carryOut(before: State, message: Message, blockhash: Address): Outcome {
  const [payer] = message.staticAccounts;
  if (payer === undefined) throw new Error('a message has a fee payer');
  const paid = new Map(before);
  const balance = heldBy(paid, payer);
  paid.set(payer, { ...balance, lamports: balance.lamports - priceOf(message).fee });
  const anchor = nonceAccountIn(message);
  if (anchor !== null) paid.set(anchor, advanced(heldBy(paid, anchor), blockhash));
  const state = new Map(paid);
  const sent: Sent[] = [];
  for (const [i, instruction] of instructionsOf(message).entries()) {
    const error = step(state, { instruction, payer, blockhash, sent });
    if (error !== null) return { state: paid, error: { InstructionError: [i, error] }, sent: [] };
  }
  const poor = message.staticAccounts.findIndex((at) => isTooPoor(heldBy(state, at), heldBy(before, at)));
  return poor === -1
    ? { state, error: null, sent }
    : { state: paid, error: { InsufficientFundsForRent: { account_index: poor } }, sent: [] };
}

interface Step {
  readonly instruction: Instruction;
  readonly payer: Address;
  readonly blockhash: Address;
  readonly sent: Sent[];
}

/** Executes one instruction. Returns its error, or null when it succeeded. */
function step(state: Map<Address, Held>, { instruction, payer, blockhash, sent }: Step): unknown {
  const { programAddress, data, accounts } = instruction;
  if (programAddress === COMPUTE_BUDGET_PROGRAM_ADDRESS) return null;
  if (programAddress === ASSOCIATED_TOKEN_PROGRAM_ADDRESS) return openAccount(state, instruction);
  if (programAddress === TOKEN_2022) {
    const moved = transfer(state, instruction, payer);
    if ('error' in moved) return moved.error;
    sent.push(moved.sent);
    return null;
  }
  const [first, second] = (accounts ?? []).map(({ address }) => address);
  if (programAddress !== SYSTEM_PROGRAM_ADDRESS || data === undefined || first === undefined) return 'Unsupported';
  switch (data[0] ?? 0) {
    // The durable nonce is advanced before the first instruction.
    case ADVANCE_NONCE:
      return null;
    case TRANSFER: {
      const { amount } = getTransferSolInstructionDataDecoder().decode(data);
      if (second === undefined || first !== payer) return 'MissingRequiredSignature';
      if (heldBy(state, first).lamports < amount) return { Custom: TOO_LITTLE };
      sent.push(give(state, { from: first, to: second, amount }));
      return null;
    }
    case ALLOCATE_WITH_SEED: {
      const { base, seed, space, programAddress: owner } = getAllocateWithSeedInstructionDataDecoder().decode(data);
      if (base !== payer || seededAddress(base, seed, owner) !== first) return 'MissingRequiredSignature';
      if (heldBy(state, first).data.length > 0) return { Custom: IN_USE };
      state.set(first, { ...heldBy(state, first), data: new Uint8Array(Number.parseInt(space.toString(), 10)) });
      return null;
    }
    case INITIALISE_NONCE: {
      if (nonceOf(state, first) !== null) return 'InvalidAccountData';
      const { nonceAuthority } = getInitializeNonceAccountInstructionDataDecoder().decode(data);
      const account = heldBy(state, first);
      if (account.lamports < rentOf(BigInt(account.data.length))) return 'InsufficientFunds';
      const bytes = Uint8Array.from(account.data);
      bytes.set([1, 0, 0, 0, 1, 0, 0, 0]);
      bytes.set(bytesOf(nonceAuthority), 8);
      state.set(first, advanced({ ...account, data: bytes }, blockhash));
      return null;
    }
    default:
      return 'InvalidInstructionData';
  }
}

/** Moves lamports from one account to another. */
export function give(state: Map<Address, Held>, sent: Sent): Sent {
  const { from, to, amount } = sent;
  const payer = heldBy(state, from);
  state.set(from, { ...payer, lamports: payer.lamports - amount });
  const payee = heldBy(state, to);
  state.set(to, { ...payee, lamports: payee.lamports + amount });
  return sent;
}

function advanced(account: Held, blockhash: Address): Held {
  const data = Uint8Array.from(account.data);
  data.set(bytesOf(durableNonce(blockhash)), 40);
  return { ...account, data };
}

/**
 * Reports whether an account violates the rent rule: a changed balance is zero or at least the
 * minimum.
 */
function isTooPoor({ lamports, data }: Held, before: Held): boolean {
  return lamports !== before.lamports && lamports > 0n && lamports < rentOf(BigInt(data.length));
}
