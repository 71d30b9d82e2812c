import type { Address, Instruction } from '@solana/kit';
import { getAddressDecoder } from '@solana/kit';
import { tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { withheldAt } from '#chains/solana/client/token-extensions.ts';
import { bytesOf, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import { feeExtension, mint2022 } from '#local/solana/tokens.ts';
import type { Held, Sent, State } from './solana-machine.ts';
import { heldBy, rentOf } from './solana-machine.ts';

/**
 * One token of Token-2022 that withholds a hundredth of each payment, as far as payments use its
 * program. The real program runs in the tests of `local/solana`.
 */

export const MINT = getAddressDecoder().decode(new Uint8Array(32).fill(0x4d));
const DECIMALS = 6;
const MINT_DATA = mint2022({ 1: feeExtension(100) }, DECIMALS);
const TOKEN_ACCOUNT_BYTES = 165;
const UNITS_AT = 64;

/** Errors of the program, and of the one that opens associated accounts. */
const [TOO_LITTLE, OTHER_MINT, OTHER_OWNER, OTHER_DECIMALS, OTHER_FEE] = [1, 3, 4, 18, 29];

export function mintHeld(): Held {
  return { lamports: rentOf(BigInt(MINT_DATA.length)), data: MINT_DATA, owner: TOKEN_2022 };
}

/** Returns what a token account of the state holds; null for another account. */
export function tokenIn(state: State, at: Address) {
  const { lamports, data, owner } = heldBy(state, at);
  return owner === undefined ? null : tokenAccountIn({ lamports, data, owner, isExecutable: false });
}

export function unitsOf(state: State, wallet: Address): bigint {
  return tokenIn(state, tokenAccountOf(wallet, MINT, TOKEN_2022))?.units ?? 0n;
}

/** Returns the units that a payment of the token withholds from its recipient. */
function withheldOf(units: bigint): bigint {
  const { lamports, data } = mintHeld();
  return withheldAt({ lamports, data, owner: TOKEN_2022, isExecutable: false }, units, 0n).now;
}

/** Adds units to the associated account of an owner, which exists then. */
export function credit(state: Map<Address, Held>, owner: Address, units: bigint): Address {
  const at = tokenAccountOf(owner, MINT, TOKEN_2022);
  const before = tokenIn(state, at)?.units ?? 0n;
  const { lamports } = heldBy(state, at);
  const least = rentOf(BigInt(TOKEN_ACCOUNT_BYTES));
  const data = dataOf(owner, before + units);
  state.set(at, { lamports: lamports < least ? least : lamports, data, owner: TOKEN_2022 });
  return at;
}

function dataOf(owner: Address, units: bigint): Uint8Array {
  const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
  data.set(bytesOf(MINT), 0);
  data.set(bytesOf(owner), 32);
  data.writeBigUInt64LE(units, UNITS_AT);
  data[108] = 1;
  return Uint8Array.from(data);
}

/** Opens the associated account of an owner. Returns an error, or null. */
export function openAccount(state: Map<Address, Held>, { accounts, data }: Instruction): unknown {
  const [payer, at, owner, mint, , program] = (accounts ?? []).map((one) => one.address);
  const isIdempotent = data?.[0] === 1;
  if (payer === undefined || at === undefined || owner === undefined || !isIdempotent) return 'InvalidInstructionData';
  if (mint !== MINT || program !== TOKEN_2022) return 'IncorrectProgramId';
  if (at !== tokenAccountOf(owner, MINT, TOKEN_2022)) return 'InvalidSeeds';
  if (tokenIn(state, at) !== null) return null;
  const missing = rentOf(BigInt(TOKEN_ACCOUNT_BYTES)) - heldBy(state, at).lamports;
  const paid = missing > 0n ? missing : 0n;
  const wallet = heldBy(state, payer);
  if (wallet.lamports < paid) return { Custom: TOO_LITTLE };
  state.set(payer, { ...wallet, lamports: wallet.lamports - paid });
  credit(state, owner, 0n);
  return null;
}

/** Executes `TransferCheckedWithFee`. Returns an error, or what was sent. */
export function transfer(
  state: Map<Address, Held>,
  { accounts, data }: Instruction,
  payer: Address,
): { readonly error: unknown } | { readonly sent: Sent } {
  const [source, mint, destination, authority] = (accounts ?? []).map(({ address }) => address);
  const bytes = Buffer.from(data ?? []);
  const isKnown = bytes.length === 19 && bytes[0] === 26 && bytes[1] === 1;
  if (!isKnown || source === undefined || destination === undefined) return { error: 'InvalidInstructionData' };
  const units: bigint = bytes.readBigUInt64LE(2);
  const fee: bigint = bytes.readBigUInt64LE(11);
  const [from, to] = [tokenIn(state, source), tokenIn(state, destination)];
  if (from === null || to === null) return { error: 'InvalidAccountData' };
  if (mint !== MINT) return { error: { Custom: OTHER_MINT } };
  if (authority !== payer || from.owner !== payer) return { error: { Custom: OTHER_OWNER } };
  if (bytes[10] !== DECIMALS) return { error: { Custom: OTHER_DECIMALS } };
  if (from.units < units) return { error: { Custom: TOO_LITTLE } };
  if (fee !== withheldOf(units)) return { error: { Custom: OTHER_FEE } };
  state.set(source, { ...heldBy(state, source), data: dataOf(from.owner, from.units - units) });
  credit(state, to.owner, units - fee);
  return { sent: { from: payer, to: to.owner, amount: units, token: MINT } };
}
