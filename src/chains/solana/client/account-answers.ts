import { isPublicKey } from '#chains/solana/rules/address.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import type { Address } from '@solana/kit';

/** The parts of the answers of an RPC node that name accounts, and their contents at a slot. */

/** The current state of an account. */
export interface Account {
  readonly lamports: bigint;
  readonly owner: Address;
  readonly data: Uint8Array;
  readonly isExecutable: boolean;
}

export interface At<T> {
  readonly slot: bigint;
  readonly value: T;
}

export function field(value: unknown, name: string): unknown {
  return isJsonObject(value) ? value[name] : undefined;
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}

export function isAddressText(value: unknown): value is Address {
  return typeof value === 'string' && isPublicKey(value);
}

export function withSlot(answer: unknown): At<unknown> | undefined {
  const slot = wholeIn(field(field(answer, 'context'), 'slot'));
  return slot !== undefined ? { slot, value: field(answer, 'value') } : undefined;
}

/** Returns a whole number of an answer that was read with BigInt or, exactly, without. */
function wholeIn(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}

export function rowsIn(answer: unknown): At<readonly unknown[]> | undefined {
  const slotted = withSlot(answer);
  return Array.isArray(slotted?.value) ? { slot: slotted.slot, value: slotted.value } : undefined;
}

/** Returns undefined for a value that is neither an account nor null. */
export function accountOf(value: unknown): Account | null | undefined {
  if (value === null) return null;
  const { owner, data, executable, ...rest } = fieldsOf(value);
  const lamports = wholeIn(rest['lamports']);
  const [encoded] = Array.isArray(data) ? (data as readonly unknown[]) : [];
  if (lamports === undefined || !isAddressText(owner) || typeof encoded !== 'string') return undefined;
  return { lamports, owner, data: bytesOfBase64(encoded), isExecutable: executable === true };
}

/** Returns the account of a row, or nothing for an unreadable row. */
export function holderOf(row: unknown): readonly { readonly address: Address; readonly account: Account }[] {
  const [address, account] = [field(row, 'pubkey'), accountOf(field(row, 'account'))];
  return isAddressText(address) && account ? [{ address, account }] : [];
}

function bytesOfBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
