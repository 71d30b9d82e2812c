/** Addresses, counts and codes as people read them. */

/** The addresses that this tab has shown, by their abbreviation. */
const SHOWN = new Map<string, Set<string>>();
const LISTENERS = new Set<() => void>();

/**
 * Returns the beginning and the end of an address. The element that shows it has the whole address
 * as its title. An address whose abbreviation is also that of another shown one is returned whole:
 * an attacker makes such an address to be taken for the other one.
 */
export function abbreviated(address: string): string {
  if (address.length <= 16) return address;
  const short = `${address.slice(0, 8)}…${address.slice(-6)}`;
  const name = short.toLowerCase();
  const alike = SHOWN.get(name) ?? new Set();
  const before = alike.size;
  // The case of an EVM address is a checksum. Elsewhere another case is another address.
  SHOWN.set(name, alike.add(address.startsWith('0x') ? address.toLowerCase() : address));
  if (alike.size === 1) return short;
  if (before === 1) for (const listener of LISTENERS) listener();
  return address;
}

/**
 * Calls back when two shown addresses have one abbreviation, so that both are rendered whole.
 * Returns a function that removes the callback.
 */
export function whenAlike(callback: () => void): () => void {
  LISTENERS.add(callback);
  return () => void LISTENERS.delete(callback);
}

export function approvalsText(count: number): string {
  return count === 1 ? '1 approval' : `${count} approvals`;
}

/** The reasons of a payment that a person must not take for what its state says alone. */
const REASON_TEXTS: Readonly<Record<string, string>> = {
  TRANSFER_NOT_LOGGED:
    'A block has the payment, and the token shows no transfer. Ask the recipient, or look at the token’s balances. ' +
    'Do not pay again before that.',
  FINAL_BLOCK_GONE:
    'The chain no longer has the block that ended this payment. It may be included again. Do not pay again.',
  CONTENTS_CORRECTED: 'The amounts of this record were false and have been corrected. See its history.',
  DISPROVEN: 'The transaction moved nothing of this wallet. The record was false.',
  TOKEN_NOT_MOVED: 'A block has the call, and the balances prove that the token did not move.',
};

/** Returns the text of a `stateReason`, or its code without one. */
export function reasonText(stateReason: string | null): string | null {
  return stateReason === null ? null : (REASON_TEXTS[stateReason] ?? stateReason);
}

/** The rules that hide a transaction or one of its assets. */
const HIDDEN_TEXTS: Readonly<Record<string, string>> = {
  ZERO_VALUE: 'It moves nothing. Such a transfer puts a false address into the history.',
  LOOKALIKE: 'Its address looks like one that the vault has dealt with, and is another one.',
  FAKE_TOKEN: 'The token has the name of a known asset, and is another one.',
  BAIT: 'The name of the token requests an action of its reader, such as to visit a site.',
  MASS_TRANSFER: 'The token has no price, and many recipients received it at once.',
  LOW_VALUE: 'Its value is below 0.005 USD.',
  UNKNOWN_TOKEN: 'No source has a price for the token, and the vault has never sent it.',
  REORGED: 'The chain no longer has this transaction.',
  DROPPED: 'The transaction was never mined successfully.',
  DISPROVEN: 'The transaction moved nothing of this wallet. The record was false.',
};

/** Returns the text of a `hiddenReason`, or its code without one. */
export function hiddenText(hiddenReason: string): string {
  return HIDDEN_TEXTS[hiddenReason] ?? hiddenReason;
}

/** Names of chains whose short name is not their name. */
const CHAIN_NAMES: Readonly<Record<string, string>> = {
  bsc: 'BNB Smart Chain',
  hyperevm: 'HyperEVM',
  optimism: 'OP Mainnet',
};

/** Returns the name of a chain for people: `ethereum-sepolia` is `Ethereum Sepolia`. */
export function chainName(chain: string): string {
  if (Object.hasOwn(CHAIN_NAMES, chain)) return CHAIN_NAMES[chain] ?? chain;
  return chain.replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => {
    return `${dash === '' ? '' : ' '}${letter.toUpperCase()}`;
  });
}

/** Reports whether the chain is a Solana chain, by the beginning of its name. */
export function isOnSolana(chain: string): boolean {
  return chain.startsWith('solana');
}
