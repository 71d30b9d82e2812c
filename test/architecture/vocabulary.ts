import { parseSync } from 'oxc-parser';
import type { SourceFile } from './house.ts';

/**
 * Words that this project formerly used in identifiers where the field has another term, each with
 * that term. The rule splits identifiers and file names into words: `askedAtMs` has the words
 * asked, at and ms.
 */
const TERMS: Readonly<Record<string, string>> = {
  ...of('request, call or get', 'ask', 'asks', 'asked', 'asking', 'question', 'questions'),
  ...of('node problem or unusable', 'trouble', 'troubles', 'unfit'),
  ...of('the role of the party', 'nobody', 'somebody', 'anybody', 'whoever'),
  ...of('patch, options or requested', 'wish', 'wishes', 'wished', 'wants', 'wanted'),
  ...of('approval or rejection', 'vote', 'votes', 'voted', 'voter', 'voters', 'ballot', 'voice', 'voices'),
  ...of('report, notify or log', 'tell', 'tells', 'telling', 'told', 'heard', 'unheard', 'news'),
  ...of('node pool', 'fleet'),
  ...of('enqueue, pending or complete', 'owe', 'owes', 'owed', 'discharge'),
  ...of('task or message group', 'errand', 'errands'),
  ...of('commands', 'desk', 'desks'),
  ...of('store', 'keeper', 'keepers'),
  ...of('UTXO, or native asset', 'coin', 'coins'),
  ...of('slot, endpoint, path or position', 'place', 'places'),
  ...of('balances, storage or chain', 'ledger', 'ledgers'),
  ...of('create and vault', 'foundation', 'foundations'),
  ...of('observation or UTXO status', 'sighting', 'sightings', 'fate', 'fates'),
  ...of('market value', 'worth', 'appraisal', 'appraise', 'appraised'),
  ...of('poll, scan or read', 'look', 'looks', 'looked'),
  ...of('attest', 'witness', 'witnesses', 'testify', 'testimony'),
  ...of('agreement', 'standing', 'standings'),
  ...of('violation', 'breach', 'breaches'),
  ...of('spending', 'takes'),
  ...of('unreachable', 'away'),
  ...of('update, check or context', 'reform', 'rehearse', 'rehearsal', 'circumstances', 'complain'),
  ...of('poll, wake or store', 'hasten', 'nudge', 'nudged', 'bury'),
  ...of('wallet balance', 'purse', 'purses'),
  ...of('faulty', 'mischief', 'mischievous'),
};

/** Names in src/ that say when a value came, and not what it is. Write the noun. */
const NO_NOUNS: ReadonlySet<string> = new Set(['said', 'given']);

/** Constants of a bound begin with MAX_ or MIN_. */
const BOUND = /^(MOST|LONGEST|LARGEST|DEEPEST|LEAST|FEWEST|SHORTEST)_/;

/**
 * Words that are terms of the field in some files: Bitcoin calls the signatures of a transaction
 * its witness, and a price source lists coins.
 */
const WORDS_OF_OTHERS: readonly (readonly [room: RegExp, words: readonly string[]])[] = [
  [/bitcoin|segwit|taproot|networks|other-network|utxo|vectors|adversary\/oracle/, ['witness', 'witnesses']],
  // Coin selection is a term of the field.
  [/coin-selection/, ['coin']],
  [/^(src|test)\/prices\/|value-assets/, ['coin', 'coins']],
];

/**
 * Names that are stored, signed or sent over the wire, so that a co-signer or a client of another
 * version reads them. The list may only become shorter: a name is removed when its codec or the
 * protocol revision changes.
 */
export const FROZEN: ReadonlySet<string> = new Set(
  [
    // Events of the hash-chained history.
    ['ask', 'askInVain', 'dropVotes', 'lookedFor', 'LookedFor', 'keepsCoins', 'isCoinUnknown', 'COIN_UNKNOWN'],
    // Fields of stored records, and columns of D1.
    ['isAsked', 'coinParents', '_coinParents', 'foundedAtMs', 'appraisalPending', 'nudgedAtMs', 'coin'],
    // Members of API answers and of requests to co-signers.
    ['breach', 'coins', 'witness', 'witnesses'],
    // Names of packages and of typed data in tests.
    ['question', 'Vote'],
  ].flat(),
);

function of(term: string, ...words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, term]));
}

/** Returns a fault for each identifier and each part of the path that contains such a word. */
export function privateWords({ path, text }: SourceFile): readonly string[] {
  const own = new Set(WORDS_OF_OTHERS.flatMap(([room, words]) => (room.test(path) ? words : [])));
  const faultIn = (name: string): string | null => {
    if (BOUND.test(name)) return `${name}: a bound is MAX_ or MIN_`;
    if (path.startsWith('src/') && NO_NOUNS.has(name)) return `${name}: write the noun`;
    const word = wordsIn(name).find((one) => Object.hasOwn(TERMS, one) && !own.has(one));
    return word === undefined ? null : `${name}: write ${TERMS[word]} for ${word}`;
  };
  const names = [...identifiersIn(path, text)].filter((name) => !FROZEN.has(name));
  return [...path.split(/[/.]/), ...names].flatMap((name) => faultIn(name) ?? []);
}

function wordsIn(name: string): readonly string[] {
  const parts = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
  return parts.split(/[^A-Za-z]+/).map((part) => part.toLowerCase());
}

const IDENTIFIERS: ReadonlySet<unknown> = new Set(['Identifier', 'PrivateIdentifier', 'JSXIdentifier']);

function identifiersIn(path: string, text: string): ReadonlySet<string> {
  const names = new Set<string>();
  const open: unknown[] = [parseSync(path, text).program];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    const { type, name } = node as { readonly type?: unknown; readonly name?: unknown };
    if (IDENTIFIERS.has(type) && typeof name === 'string') names.add(name);
    open.push(...Object.values(node));
  }
  return names;
}
