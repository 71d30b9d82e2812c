/** Long enough for every message that an RPC node really sends; records and logs need no more. */
const MAX_LENGTH = 300;

/** URLs contain keys, and some RPC nodes repeat the requested URL. */
const URL_LIKE = /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)]+/gi;

/**
 * Control characters, line separators and bidirectional overrides: they forge log lines and reorder
 * text on a screen.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Returns text from an RPC node or a contract in a form that is safe to record: one line, limited
 * in length, without URLs of nodes or their keys.
 *
 * @param secrets texts to remove, as `secretsOf` finds them
 */
export function redacted(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) clean = clean.replaceAll(secret, '[secret]');
  clean = clean.replace(URL_LIKE, '[address]').replace(UNPRINTABLE, ' ').replace(/ {2,}/g, ' ').trim();
  // The cut may leave half of a surrogate pair, which no canonical bytes can hold.
  return clean.length > MAX_LENGTH ? `${clean.slice(0, MAX_LENGTH).toWellFormed()}…` : clean;
}

/**
 * Returns the secret parts of an RPC node's URL: user, password, path segments and query values of
 * a key's length.
 */
export function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url];
  const { username, password, pathname, searchParams } = new URL(url);
  const parts = [username, password, ...pathname.split('/'), ...searchParams.values()];
  return parts.filter((part) => part.length >= 8);
}
