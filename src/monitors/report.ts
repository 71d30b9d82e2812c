import { HashSearch } from '#monitors/hash-search.ts';
import type { Hint, Report } from '#monitors/monitor.ts';
import { field, items } from '#monitors/monitor.ts';

/** The form of a transaction hash, and the names of the field with it, the most specific first. */
const FAMILIES = {
  eip155: { form: /^0x[0-9a-f]{64}$/i, names: ['transactionHash', 'txHash', 'hash'] },
  // A signature of 64 bytes in base58. An address is shorter. Letters of both cases differ.
  solana: { form: /^[1-9A-HJ-NP-Za-km-z]{64,88}$/, names: ['signature', 'txHash', 'transactionHash'] },
  // For Bitcoin it is not `hash`, which includes the witness.
  bip122: { form: /^[0-9a-f]{64}$/i, names: ['txid', 'txHash', 'transactionHash'] },
} as const;

const CAIP_2 = /^(eip155|solana|bip122):[-\w]{1,32}$/;

/** Reports whether a value is the CAIP-2 of a family of chains that is known. */
export function isCaip2(value: unknown): value is string {
  return typeof value === 'string' && CAIP_2.test(value);
}

/** One entry of a delivery that stands for a transaction. */
export interface Entry {
  /** CAIP-2; undefined when the network is unknown. */
  readonly chain: string | undefined;
  readonly row: unknown;
  /** The provider's name of the event, by `kindOf`. */
  readonly kind: string;
}

/** The report of a delivery without activity: a test, or a block in which nothing matched. */
export const EMPTY_REPORT: Report = { hints: [], alarm: null, unread: null };

/**
 * Returns the hints in the entries of a delivery. An entry without a hash in a known field is
 * searched for texts in the form of a transaction hash of its network. The delivery counts as
 * unread when an entry gives no hint, or the search had to end.
 */
export function reportOf(entries: readonly Entry[]): Report {
  const search = new HashSearch();
  const hints = new Map<string, Hint>();
  let unread: string | null = null;
  for (const { chain, row, kind } of entries) {
    const known = hashIn(chain, row);
    const hashes = known === null ? searched(search, chain, row) : [known];
    if (hashes.length === 0 || search.isCut) unread ??= kind;
    if (chain !== undefined) for (const hash of hashes) hints.set(`${chain} ${hash}`, { chain, hash });
  }
  return { hints: [...hints.values()], alarm: null, unread };
}

/**
 * Returns the transaction hash in a known field of an entry, of its transaction or of its log, in
 * the spelling of the chain; null without one.
 */
export function hashIn(chain: string | undefined, row: unknown): string | null {
  const family = familyOf(chain);
  if (family === null) return null;
  const transaction = field(row, 'transaction');
  const holders = [row, field(row, 'log'), Array.isArray(transaction) ? items(transaction)[0] : transaction];
  const values = holders.flatMap((holder) => [
    ...family.names.map((name) => field(holder, name)),
    // The first signature of a Solana transaction is its id.
    ...(family === FAMILIES.solana ? [items(field(holder, 'signatures'))[0]] : []),
  ]);
  const hash = values.find((value) => typeof value === 'string' && family.form.test(value));
  return typeof hash === 'string' ? spelled(family, hash) : null;
}

function searched(search: HashSearch, chain: string | undefined, row: unknown): readonly string[] {
  const family = familyOf(chain);
  if (family === null) return [];
  return search.textsIn(row, (text) => family.form.test(text)).map((hash) => spelled(family, hash));
}

type Family = (typeof FAMILIES)[keyof typeof FAMILIES];

function familyOf(chain: string | undefined): Family | null {
  const namespace = CAIP_2.exec(chain ?? '')?.[1];
  return namespace === undefined ? null : FAMILIES[namespace as keyof typeof FAMILIES];
}

function spelled(family: Family, hash: string): string {
  return family === FAMILIES.solana ? hash : hash.toLowerCase();
}

const MAX_WORD = 48;

/**
 * Returns the provider's names of an event, for operators: up to two texts, short and printable,
 * because they are external input. Without a name it is the kind of JSON value.
 */
export function kindOf(body: unknown, ...names: readonly unknown[]): string {
  const words = names.filter((name) => typeof name === 'string' && name !== '').slice(0, 2);
  const shape = body === null ? 'null' : Array.isArray(body) ? 'list' : typeof body;
  return (
    words
      .map((word) =>
        String(word)
          .slice(0, MAX_WORD)
          .replaceAll(/[^\w.:/-]/g, '?'),
      )
      .join(' ') || shape
  );
}
