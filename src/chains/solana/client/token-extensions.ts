import type { Account } from '#chains/solana/client/account-answers.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';

/**
 * The extensions of Token-2022, which follow the base of a mint or of a token account: the type,
 * the length and the content of each. Their numbers and layouts are those of the program
 * (`spl-token-2022`, `ExtensionType`).
 */
const EXTENSIONS_OFFSET = 166;

const TRANSFER_FEE = 1;
const CONFIDENTIAL_ACCOUNT = 5;
const DEFAULT_STATE = 6;
const MEMO_REQUIRED = 8;
const NON_TRANSFERABLE = 9;
const HOOK = 14;
const METADATA_POINTER = 18;
const METADATA = 19;
const CONFIDENTIAL_MINT_BURN = 24;
const PAUSABLE = 26;

/**
 * Mint extensions that change nothing of a payment: close authority, confidential balances beside
 * the public one and their fees, interest and a factor that only displays show, permanent delegate,
 * texts, groups, and conditions of burning.
 */
const WITHOUT_EFFECT: ReadonlySet<number> = new Set([
  3,
  4,
  10,
  12,
  16,
  METADATA_POINTER,
  METADATA,
  20,
  21,
  22,
  23,
  25,
  28,
]);

/** The states of a token account. */
const FROZEN = 2;

type Extensions = ReadonlyMap<number, Uint8Array>;

/** Returns the extensions of an account by their numbers; none for the first token program. */
function extensionsIn({ owner, data }: Account): Extensions {
  const found = new Map<number, Uint8Array>();
  if (owner !== TOKEN_2022) return found;
  const view = viewOf(data);
  for (let at = EXTENSIONS_OFFSET; at + 4 <= data.length;) {
    const [type, length] = [view.getUint16(at, true), view.getUint16(at + 2, true)];
    const end = at + 4 + length;
    if (type === 0 || end > data.length) break;
    found.set(type, data.subarray(at + 4, end));
    at = end;
  }
  return found;
}

/**
 * Returns why Conclave pays no token of a mint, as a text for users; null when it does. An
 * extension that is not known may do anything with a payment.
 *
 * @param opensAccount the payment opens the account of the recipient
 */
export function mintFault(mint: Account, opensAccount: boolean): string | null {
  const extensions = extensionsIn(mint);
  if (extensions.has(NON_TRANSFERABLE)) return 'cannot be transferred';
  if (extensions.has(CONFIDENTIAL_MINT_BURN)) return 'is minted and burned confidentially, which is not supported';
  const hook = extensions.get(HOOK);
  if (hook !== undefined && !isZero(hook.subarray(32, 64))) return 'calls a transfer hook, which is not supported';
  if (extensions.get(PAUSABLE)?.[32] === 1) return 'is paused';
  if (opensAccount && extensions.get(DEFAULT_STATE)?.[0] === FROZEN) {
    return 'freezes each new account, and the recipient has none yet';
  }
  const known = new Set([TRANSFER_FEE, DEFAULT_STATE, HOOK, PAUSABLE]);
  const unknown = [...extensions.keys()].find((type) => !known.has(type) && !WITHOUT_EFFECT.has(type));
  return unknown === undefined ? null : `has the extension ${unknown} of Token-2022, which is not known`;
}

/** Why a token account receives no payment that has a memo or none; null when it does. */
export function accountFault(account: Account, hasMemo: boolean): string | null {
  const extensions = extensionsIn(account);
  if (extensions.get(MEMO_REQUIRED)?.[0] === 1 && !hasMemo) return 'accepts only payments with a memo. Set memo';
  const confidential = extensions.get(CONFIDENTIAL_ACCOUNT);
  // The last flag but eight bytes and three counters: payments from public balances are accepted.
  const accepts = confidential?.[CREDITS_OFFSET];
  return confidential !== undefined && accepts !== 1 ? 'accepts only confidential payments' : null;
}

/**
 * After approval (1), the ElGamal key (32), two pending balances (64 each), the available balance
 * (64), the decryptable one (36), and the flag for confidential credits (1).
 */
const CREDITS_OFFSET = 1 + 32 + 3 * 64 + 36 + 1;

/** Two keys and the units that the mint itself holds back precede the two fees. */
const FEES_OFFSET = 32 + 32 + 8;
const FEE_BYTES = 18;

/**
 * Returns the units that a payment withholds from the recipient: now, and the larger of that and a
 * change that is announced for a later epoch.
 */
export function withheldAt(mint: Account, units: bigint, epoch: bigint): { now: bigint; later: bigint } {
  const config = extensionsIn(mint).get(TRANSFER_FEE);
  if (config === undefined || config.length < FEES_OFFSET + 2 * FEE_BYTES) return { now: 0n, later: 0n };
  const view = viewOf(config);
  const feeAt = (at: number) => {
    const [most, points] = [view.getBigUint64(at + 8, true), BigInt(view.getUint16(at + 16, true))];
    const fee = (units * points + 9_999n) / 10_000n;
    return fee < most ? fee : most;
  };
  const [older, newer] = [feeAt(FEES_OFFSET), feeAt(FEES_OFFSET + FEE_BYTES)];
  const startsAt = view.getBigUint64(FEES_OFFSET + FEE_BYTES, true);
  return epoch >= startsAt ? { now: newer, later: newer } : { now: older, later: newer > older ? newer : older };
}

/** Returns the metadata that a mint holds itself: untrusted bytes, or null without any. */
export function metadataIn(mint: Account): Uint8Array | null {
  return extensionsIn(mint).get(METADATA) ?? null;
}

function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.length);
}
