import { createHash } from 'node:crypto';
import type { HttpContext } from '#http/encode/context.ts';

/**
 * A response body with its ETag, so that a poller that already has it gets 304 without a body (RFC
 * 9110, section 13.1.2).
 */
export interface TaggedJson {
  readonly text: string;
  /** A strong validator: the same tag means the same bytes. */
  readonly tag: string;
}

/** Hex digits of the tag: 128 bits. */
const TAG_DIGITS = 32;

export function taggedJson(body: unknown): TaggedJson {
  return taggedText(JSON.stringify(body));
}

/** @param text of a JSON value */
export function taggedText(text: string): TaggedJson {
  // The hash of the runtime is used. For a page of 50 records, a hash in JavaScript takes a sixth
  // of the response time.
  return { text, tag: `"${createHash('sha256').update(text).digest('hex').slice(0, TAG_DIGITS)}"` };
}

/**
 * Reports whether `If-None-Match` has the tag. `*` does not match: it tests only whether any
 * representation exists.
 */
export function matchesEtag(context: HttpContext, { tag }: TaggedJson): boolean {
  const header = context.req.header('if-none-match') ?? '';
  return header.split(',').some((known) => known.trim().replace(/^W\//, '') === tag);
}

/** Returns 200 with the body, or 304 without it. */
export function respondWithEtag(context: HttpContext, json: TaggedJson): Response {
  context.header('etag', json.tag);
  return matchesEtag(context, json)
    ? context.body(null, 304)
    : context.body(json.text, 200, { 'content-type': 'application/json' });
}
