import { parseJsonSetting } from '#domain/json/json-setting.ts';
import { isLoopback, isSecureAddress } from '#domain/secure-address.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** The settings that name RPC nodes. */
export interface RpcSettings {
  readonly RPC_URLS: string;
}

/** An entry of RPC_URLS. */
export interface RpcEntry {
  /** The name of the chain, which may not exist. */
  readonly chain: string;
  /** The host of each RPC node, without what may be a key; none for a refused entry. */
  readonly hosts: readonly string[];
  /** Why the entry is refused, without its URLs; null for a usable one. */
  readonly fault: string | null;
}

/** Returns every entry, in its order. A refused one hides no other. Throws for no JSON object. */
export function rpcEntries(settings: RpcSettings): readonly RpcEntry[] {
  return Object.entries(settingOf(settings)).map(([chain, entry]) => {
    const read = urlsIn(chain, entry);
    if (!read.ok) return { chain, hosts: [], fault: read.refusal };
    return { chain, hosts: read.value.map((url) => new URL(url).host), fault: null };
  });
}

/**
 * Returns the URLs of the RPC nodes of a chain, in order of preference; null without an entry.
 * Throws for a refused entry, without the URLs: some contain keys.
 */
export function rpcUrlsOf(settings: RpcSettings, chain: string): readonly string[] | null {
  const entries = settingOf(settings);
  if (!Object.hasOwn(entries, chain)) return null;
  const read = urlsIn(chain, entries[chain]);
  if (!read.ok) throw new Error(read.refusal);
  return read.value;
}

function settingOf({ RPC_URLS }: RpcSettings): Readonly<Record<string, unknown>> {
  const setting = parseJsonSetting('RPC_URLS', RPC_URLS);
  if (!isJsonObject(setting)) throw new Error('RPC_URLS must be an object of lists of URLs.');
  return setting;
}

/**
 * Returns the URLs of an entry, or why it is refused.
 *
 * A payment ends when two RPC nodes state the same. Two URLs of one node, or of one provider, would
 * be a single source that counts as two, so URLs with one host are refused. An operator who knows
 * that they are independent states it: `{ "urls": [...], "providers": 2 }`. No statement makes the
 * same URL two nodes.
 */
function urlsIn(chain: string, entry: unknown): Result<readonly string[], string> {
  const { urls, providers } = isJsonObject(entry) ? entry : { urls: entry, providers: null };
  const fault = (text: string) => refused(`RPC_URLS: ${chain} must ${text}`);
  if (!isUrlList(urls) || (providers !== null && providers !== urls.length)) {
    return fault('have a list of URLs, or { "urls", "providers" } with the number of the URLs.');
  }
  if (!urls.every(isSecureAddress)) return fault('have https URLs, or http of this machine.');
  const addresses = urls.map((url) => new URL(url));
  const isDistinct = (nameOf: (url: URL) => string) => new Set(addresses.map(nameOf)).size === urls.length;
  // User info and a fragment change no address.
  if (!isDistinct(({ origin, pathname, search }) => `${origin}${pathname.replace(/\/$/, '')}${search}`)) {
    return fault('not have the same URL twice.');
  }
  if (providers === null && !isDistinct(hostOf)) {
    return fault('not have two URLs of one host, because one provider could then confirm itself.');
  }
  return accepted(urls);
}

/** All names of this machine are one host. */
function hostOf(url: URL): string {
  return isLoopback(url.href) ? 'localhost' : url.hostname.replace(/\.$/, '');
}

function isUrlList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((url) => typeof url === 'string' && URL.canParse(url));
}
