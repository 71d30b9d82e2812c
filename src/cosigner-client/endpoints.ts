import * as z from 'zod';
import { parseJsonSetting } from '#domain/json/json-setting.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { MAX_PARTY_INDEX, parsePartyIndex } from '#mpc/party.ts';

/** The settings of a coordinator that name its co-signers (`CoordinatorEnv`). */
export interface CosignerSettings {
  readonly COSIGNER_1?: Fetcher;
  readonly COSIGNER_2?: Fetcher;
  readonly COSIGNER_3?: Fetcher;
  readonly COSIGNER_URLS?: string;
  readonly COORDINATOR_SECRET?: string;
}

/**
 * The endpoint of a co-signer: in this account behind a binding, or in another one behind a URL.
 */
export type CosignerEndpoint =
  | { readonly index: PartyIndex; readonly binding: Fetcher }
  | { readonly index: PartyIndex; readonly url: string };

/** With fewer than this, one unreachable co-signer would block every signature. */
const MIN_COSIGNERS = 3;

/**
 * Returns the endpoints of the co-signers of this deployment, in order: 1 to n without a gap, three
 * to five. A URL in COSIGNER_URLS takes precedence over a binding. Throws when the settings are
 * inconsistent: a coordinator with an incomplete configuration signs nothing.
 */
export function cosignerEndpoints(env: CosignerSettings): readonly CosignerEndpoint[] {
  const urls = cosignerUrls(env.COSIGNER_URLS ?? '');
  const bindings = [env.COSIGNER_1, env.COSIGNER_2, env.COSIGNER_3];
  const positions: CosignerEndpoint[] = [];
  for (let number = 1; number <= MAX_PARTY_INDEX; number++) {
    const index = parsePartyIndex(number);
    const [url, binding] = [urls.get(String(number)), bindings[number - 1]];
    if (index === null || (url === undefined && binding === undefined)) break;
    if (url !== undefined) positions.push({ index, url });
    else if (binding !== undefined) positions.push({ index, binding });
  }
  if (positions.length < MIN_COSIGNERS)
    throw new Error(`there are ${positions.length} co-signers, fewer than ${MIN_COSIGNERS}`);
  const beyond = [...urls.keys()].find((name) => !positions.some(({ index }) => name === String(index)));
  if (beyond !== undefined) throw new Error(`COSIGNER_URLS names ${beyond}, but a co-signer before it is missing`);
  if (urls.size > 0 && env.COORDINATOR_SECRET === undefined)
    throw new Error('COSIGNER_URLS must not be set without COORDINATOR_SECRET');
  return positions;
}

const COSIGNER_URLS_FORM =
  'COSIGNER_URLS must be an object of number to origin, such as {"1":"https://cosigner-1.example.com"}';

const urlsByName = z.record(z.string(), z.unknown());

const READ = new Map<string, ReadonlyMap<string, string>>();

/** Returns the URLs of the setting. Each text is parsed once. */
function cosignerUrls(text: string): ReadonlyMap<string, string> {
  const known = READ.get(text);
  if (known !== undefined) return known;
  const setting = urlsByName.safeParse(text === '' ? {} : parseJsonSetting('COSIGNER_URLS', text));
  if (!setting.success) throw new Error(COSIGNER_URLS_FORM);
  const urls = new Map(Object.entries(setting.data).map(([name, url]) => [name, originOf(url)]));
  // One co-signer under two numbers would count as two of the group that signs.
  if (new Set(urls.values()).size < urls.size) throw new Error('COSIGNER_URLS must have each origin once');
  READ.set(text, urls);
  return urls;
}

/** Returns the origin. Only https is allowed, or http on this machine. */
function originOf(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const isHere = url?.protocol === 'http:' && url.hostname === '127.0.0.1';
  if (url === null || url.origin !== value || !(url.protocol === 'https:' || isHere)) {
    throw new Error(COSIGNER_URLS_FORM);
  }
  return value;
}
