import { foldersInOrder } from './folder-order.ts';
import { faultsNotStated } from './error-texts.ts';
import { importsOf } from './imports.ts';
import { notTooLongFunctions } from './function-lines.ts';
import { privateWords } from './vocabulary.ts';

/**
 * The rules of the house, as functions of a file's path and text. Each returns its faults in words.
 */

export interface SourceFile {
  /** A path from the top of the project, such as `src/domain/id.ts`. */
  readonly path: string;
  readonly text: string;
}

type Rule = (file: SourceFile) => readonly string[];

/**
 * A room may import from rooms on lower floors and from itself. Rooms on the same floor must not
 * import from each other.
 */
const FLOORS: Readonly<Record<string, number>> = {
  domain: 0,
  curve: 0,
  mpc: 1,
  chains: 1,
  devices: 1,
  login: 1,
  monitors: 1,
  notifications: 1,
  prices: 1,
  store: 1,
  objects: 2,
  cosigner: 2,
  'cosigner-client': 2,
  review: 2,
  http: 3,
  jobs: 3,
  dashboard: 4,
  'approval-page': 4,
};
const ENTRY_FLOOR = 4;

/**
 * Packages that only the named rooms may import. All other packages may be imported anywhere except
 * in domain/.
 */
const PACKAGE_ROOMS: Readonly<Record<string, readonly string[]>> = {
  hono: ['http', 'dashboard'],
  preact: ['dashboard', 'approval-page'],
  zod: ['http', 'objects', 'store', 'jobs', 'login', 'monitors', 'cosigner-client', 'prices', 'notifications'],
  'drizzle-orm': ['store'],
  viem: ['chains'],
  oauth4webapi: ['login'],
  '@block65/webcrypto-web-push': ['notifications'],
  'cloudflare:workers': ['objects', 'cosigner', 'http', 'jobs', ''],
};

const MAX_FILE_LINES = 400;
const DRAWERS = /(^|\/)(utils?|helpers?|common|lib|types|services?|misc|shared|manager)(\/|\.ts$)/;
const BRANDS = 'VaultId|TransactionId|UserId|TokenId|KeyId|DeviceKeyId|Amount|SignedAmount|PartyIndex|Midstate';
const BRAND_PARSERS = [
  'src/domain/id.ts',
  'src/domain/asset/amount.ts',
  'src/mpc/party.ts',
  'src/mpc/wasm/one-block-sha256.ts',
];

/**
 * The one file that signs with a whole key: on an offline machine, when the service is lost. Only
 * the command of the recovery imports it, beside its test.
 */
const WHOLE_KEY_SIGNER = 'cli/recovery/whole-key.ts';
const WHOLE_KEY_IMPORTERS: readonly string[] = ['cli/recovery/sweep.ts', 'test/cli/recovery-sweep.test.ts'];

/**
 * Functions that sign with a whole private key. No other file has one, not even a test, so that no
 * code can call one by mistake.
 */
const WHOLE_KEY = /\b(privateKeyToAccount|mnemonicToAccount|hdKeyToAccount|secp256k1\.sign|schnorr\.sign|signAsync)\b/;

export const house = {
  floors: onlyDownwards,
  folders: foldersInOrder,
  wire: overTheWire,
  spelling: noRelativePaths,
  packages: packagesInTheirRooms,
  length: notTooLong,
  functions: notTooLongFunctions,
  drawers: noDrawers,
  barrels: noBarrels,
  brands: brandsByTheirParser,
  wholeKeys: noWholeKeySigner,
  errors: faultsNotStated,
  lists: listsToTheirEnd,
  requests: requestsParsedOnce,
  purity: domainIsPure,
  database: noDatabaseTransactions,
  amounts: noFloatsNearAmounts,
  logs: nothingSecretInLogs,
  mentions: noUnfinishedWork,
  vocabulary: privateWords,
} satisfies Readonly<Record<string, Rule>>;

export function roomOf(path: string): string | null {
  const match = /^src\/(?:([a-z-]+)\/)?[^/]/.exec(path);
  return match === null ? null : (match[1] ?? '');
}

function onlyDownwards({ path, text }: SourceFile): readonly string[] {
  const room = roomOf(path);
  if (room === null) return [];
  const floor = room === '' ? ENTRY_FLOOR : FLOORS[room];
  if (floor === undefined) return [`${room}/ is no room of the house`];
  return importsOf(text).flatMap((target) => {
    const other = /^#([a-z-]+)\//.exec(target)?.[1];
    if (other === undefined || other === room) return [];
    const below = FLOORS[other];
    return below !== undefined && below < floor ? [] : [`imports ${target}, which is not below it`];
  });
}

/**
 * Code for browsers may import only the types of API answers and the readers of canonical bytes
 * from the service, and the review that both pages show.
 */
function overTheWire({ path, text }: SourceFile): readonly string[] {
  if (roomOf(path) === 'approval-page') return notByItself(text);
  if (roomOf(path) !== 'dashboard') return [];
  const inner = text.replace(/^import type \{ Api \} from '#http\/api\.ts';$/m, '');
  return importsOf(inner).flatMap((target) =>
    /^#(?!dashboard\/|review\/|domain\/(?:asset\/amount|canonical\/(?:read-text|field-reader)|transaction\/intent|policy\/(?:rules|optional-rules)|access\/(?:device|member)|id|visible-text|access\/approval-page-message|access\/approval-redirect)\.ts$)/.test(
      target,
    )
      ? [`imports ${target}; it is not on the wire`]
      : [],
  );
}

/**
 * The approval page verifies everything itself. It may import only the rooms that read, hash and
 * verify, and it sends no request to the service.
 */
function notByItself(text: string): readonly string[] {
  return importsOf(text).flatMap((target) =>
    /^#(?!(?:approval-page|review|domain|chains|devices)\/)/.test(target)
      ? [`imports ${target}; the approval page knows no service`]
      : [],
  );
}

function noRelativePaths({ path, text }: SourceFile): readonly string[] {
  if (roomOf(path) === null) return [];
  return importsOf(text).flatMap((target) =>
    target.startsWith('.') ? [`imports ${target}; spell it #room/file.ts`] : [],
  );
}

/**
 * Modules of Node that workerd implements in native code, and the files that use them for speed.
 */
const NATIVE_FILES: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': ['src/mpc/transcript.ts', 'src/chains/solana/rules/assemble.ts', 'src/http/edge/etag.ts'],
};

function packagesInTheirRooms({ path, text }: SourceFile): readonly string[] {
  const room = roomOf(path);
  if (room === null) return [];
  return importsOf(text).flatMap((target) => {
    if (target.startsWith('#')) return [];
    if (target.startsWith('node:'))
      return NATIVE_FILES[target]?.includes(path) === true ? [] : [`imports ${target}; Workers have no Node`];
    if (room === 'domain') return [`imports ${target}; domain/ imports nothing but itself`];
    const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : (target.split('/')[0] ?? '');
    const rooms = PACKAGE_ROOMS[name];
    return rooms === undefined || rooms.includes(room) ? [] : [`imports ${name}, which belongs in ${rooms.join(', ')}`];
  });
}

function notTooLong({ text }: SourceFile): readonly string[] {
  const lines = text.split('\n').length - 1;
  return lines > MAX_FILE_LINES ? [`has ${lines} lines; at most ${MAX_FILE_LINES}`] : [];
}

function noDrawers({ path }: SourceFile): readonly string[] {
  return DRAWERS.test(path) ? ['is a drawer: name the noun that it is about'] : [];
}

/**
 * A file that only exports what other files define hides the real path. Worker entry files are
 * allowed to, because the platform looks for the classes there.
 */
function noBarrels({ path, text }: SourceFile): readonly string[] {
  if ((roomOf(path) ?? '') === '') return [];
  return /^export (\*|\{[^}]*\}) from /m.test(text) ? ['hands on what another file exports'] : [];
}

function brandsByTheirParser({ path, text }: SourceFile): readonly string[] {
  if (BRAND_PARSERS.includes(path)) return [];
  return [...text.matchAll(new RegExp(`\\bas (${BRANDS})\\b(?!\\[)`, 'g'))].map(([cast]) => `mints a brand: ${cast}`);
}

/**
 * `good` does not compile for a list. `bodyOf` does, and the first page of a list is not the list.
 */
function listsToTheirEnd({ path, text }: SourceFile): readonly string[] {
  const isReader = ['src/dashboard/api.ts', 'src/dashboard/lists.ts'].includes(path);
  return !isReader && path.startsWith('src/dashboard/') && /\bbodyOf\b/.test(text)
    ? ['reads a list without its end']
    : [];
}

/** A handler receives its request parsed, by the schemas of its route. */
function requestsParsedOnce({ path, text }: SourceFile): readonly string[] {
  if (roomOf(path) !== 'http' || path === 'src/http/edge/request-check.ts') return [];
  const found = /\breq\.(json|text|arrayBuffer|query|queries|param)\(/.exec(text);
  return found === null ? [] : [`reads the request itself: ${found[0]}`];
}

function noWholeKeySigner({ path, text }: SourceFile): readonly string[] {
  const imports = /from '[^']*\/whole-key\.ts'/.exec(text);
  if (imports !== null && !WHOLE_KEY_IMPORTERS.includes(path)) return ['imports the signer of whole keys'];
  // Identity keys sign envelopes with Ed25519 through WebCrypto. These keys control no funds.
  const found = path === WHOLE_KEY_SIGNER ? null : WHOLE_KEY.exec(text);
  return found === null ? [] : [`can sign with a whole key: ${found[0]}`];
}

/**
 * Code in domain/ uses no clock, no randomness and no I/O, so a test or an auditor can repeat each
 * decision.
 */
function domainIsPure({ path, text }: SourceFile): readonly string[] {
  if (roomOf(path) !== 'domain') return [];
  const found = /\b(Date\.now|new Date\(\)|Math\.random|crypto\.|fetch\(|setTimeout|console\.)/.exec(text);
  return found === null ? [] : [`is not pure: ${found[0]}`];
}

function noDatabaseTransactions({ path, text }: SourceFile): readonly string[] {
  return roomOf(path) === 'store' && text.includes('.transaction(') ? ['D1 has no transactions; use batch'] : [];
}

/**
 * Amounts are text in JSON and bigint in code: a float has 53 bits, and an amount in wei has up to
 * 256.
 */
function noFloatsNearAmounts({ path, text }: SourceFile): readonly string[] {
  const room = roomOf(path);
  if (room === null) return [];
  return text.split('\n').flatMap((line) => {
    const conversion = /\b(Number|parseFloat|Number\.parseFloat)\(/.test(line);
    return conversion && /amount|value\b|wei|fee|balance|nonce/i.test(line.replace(/Number\(\(?value >>/, ''))
      ? [`converts to a float near an amount: ${line.trim()}`]
      : [];
  });
}

function nothingSecretInLogs({ path, text }: SourceFile): readonly string[] {
  if (roomOf(path) === null) return [];
  const logged = [...text.matchAll(/console\.\w+\(([^;]*)\);/g)].map((match) => match[1] ?? '');
  return logged
    .filter((words) => /\b(env|request|headers|token|secret|share|body|authorization)\b(?!['-])/i.test(words))
    .map((words) => `may log a secret: ${words}`);
}

function noUnfinishedWork({ text }: SourceFile): readonly string[] {
  const found = /\b(TODO|FIXME|XXX|HACK)\b|not implemented|for now\b/i.exec(text);
  return found === null ? [] : [`is unfinished: ${found[0]}`];
}

/** A folder with more entries is too large for a newcomer to find a file in it. */
const MAX_ENTRIES = 20;

/**
 * Folders that may be larger: lists of files of one kind, and test/, which has a folder for each
 * room of src/ and for each suite.
 */
const LISTS: ReadonlySet<string> = new Set(['docs/adr', 'migrations', 'test']);

/**
 * Returns the folders with more than 20 entries, files and folders together. The top of the project
 * is not counted, because tools require their files there.
 */
export function crowdedFolders(paths: readonly string[]): readonly string[] {
  const entries = new Map<string, Set<string>>();
  for (const path of paths) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join('/');
      entries.set(folder, (entries.get(folder) ?? new Set()).add(parts[depth] ?? ''));
    }
  }
  return [...entries].flatMap(([folder, { size }]) =>
    size > MAX_ENTRIES && !LISTS.has(folder) ? [`${folder} has ${size} entries; at most ${MAX_ENTRIES}`] : [],
  );
}
