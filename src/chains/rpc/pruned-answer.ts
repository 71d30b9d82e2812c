import { JSONParser, TokenType } from '@streamparser/json';
import { SkippedFields } from '#chains/rpc/skipped-fields.ts';
import { declaredLength } from '#domain/bounded-read.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** What to keep of a long answer while it arrives. */
export interface Pruning {
  /** The fields that are kept, at any depth; every other field is dropped when it ends. */
  readonly keeps: ReadonlySet<string>;
  /**
   * Returns what to keep of an object in a list; null to keep only its position, and undefined to
   * remove it. The list is named by its field.
   */
  readonly keptItem: (item: Readonly<Record<string, unknown>>, list: string) => object | null | undefined;
  /**
   * The fields whose values are left out before they are parsed, where a stranger decides how many
   * parts they have; absent when none are.
   */
  readonly skips?: ReadonlySet<string>;
  /** The answer is optional evidence: all such answers of a job share one budget of CPU time. */
  readonly isOptional?: true;
}

/** The number of values that may still be parsed. */
export interface ParsingBudget {
  values: number;
}

/**
 * Each value takes six to eight microseconds of CPU in workerd, and a stranger can make the trace
 * of one transaction have a million. A job reads 25 transactions from two nodes, and the platform
 * ends it after five minutes of CPU time.
 */
const MAX_VALUES = 1_000_000;
const MAX_OPTIONAL_VALUES = 2_000_000;

/** Returns the budget of one job for its optional answers. */
export function optionalBudget(): ParsingBudget {
  return { values: MAX_OPTIONAL_VALUES };
}

/** Thrown for an answer that is longer than a node should need. */
class AnswerTooLong extends Error {
  override readonly name = 'AnswerTooLong';
}

/** The call trace of a transaction can have megabytes, and that of a block more. */
const MAX_BYTES = 64_000_000;
/** A shorter answer is parsed at once, in a hundredth of the time. */
const SHORT_BYTES = 4_000_000;
/**
 * The longest text of an honest answer is the input of a call. The gas of a block limits it to a
 * few megabytes.
 */
const MAX_TEXT_BYTES = 16_000_000;
/**
 * The estimated memory of what is kept: 26,000 payments, which cost 200 million gas. With the
 * parser and the text of the result it stays below 32 MB.
 */
const MAX_KEPT_BYTES = 4_000_000;
const OBJECT_BYTES = 64;
const ITEM_BYTES = 8;
/** The EVM's limit of nested calls is 1,024, and each call is an object in a list. */
const MAX_DEPTH = 2_200;
const QUOTE = 0x22;

/**
 * Returns the response with only the kept parts of its JSON, if it is long. It is read as a stream,
 * because a stranger decides how long the trace of a transaction is. Throws `AnswerTooLong`, and
 * for a long body that is no JSON.
 */
export async function prunedResponse(
  response: Response,
  pruning: Pruning,
  optional: ParsingBudget = optionalBudget(),
): Promise<Response> {
  const length = response.headers.has('content-encoding') ? null : declaredLength(response);
  if (response.body === null || (length !== null && length <= SHORT_BYTES)) return response;
  if (length !== null && length > MAX_BYTES) throw new AnswerTooLong('The response is too long.');
  const { status } = response;
  const { body, isLong } = await withStart(response.body);
  if (!isLong) return new Response(body, { status, headers: response.headers });
  const kept = JSON.stringify(
    await keptOf(body, pruning, pruning.isOptional === true ? optional : { values: MAX_VALUES }),
  );
  return new Response(kept, { status, headers: { 'content-type': 'application/json' } });
}

/** Returns the same body, and whether it is longer than a short one. */
async function withStart(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader();
  const start: Uint8Array[] = [];
  let length = 0;
  while (length <= SHORT_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    start.push(value);
    length += value.length;
  }
  const whole = new ReadableStream({
    type: 'bytes',
    pull: async (controller) => {
      const next = start.shift() ?? (await reader.read()).value;
      if (next !== undefined) return controller.enqueue(next);
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return { body: whole, isLong: length > SHORT_BYTES };
}

async function keptOf(body: ReadableStream<Uint8Array>, pruning: Pruning, budget: ParsingBudget): Promise<unknown> {
  const parser = new JSONParser();
  const pruned = new PrunedValue(pruning, budget);
  parser.onToken = ({ token }) => pruned.checkDepth(token);
  parser.onValue = (found) => pruned.take(found);
  const skipped = new SkippedFields(pruning.skips ?? new Set());
  let [bytes, text] = [0, 0];
  for await (const all of body) {
    bytes += all.length;
    const chunk = pruning.skips === undefined ? all : skipped.write(all);
    const last = chunk.lastIndexOf(QUOTE);
    text = last < 0 ? text + chunk.length : chunk.length - last;
    if (bytes > MAX_BYTES || text > MAX_TEXT_BYTES) throw new AnswerTooLong('The response is too long.');
    parser.write(chunk);
  }
  if (!parser.isEnded) throw new Error('The response ended too early.');
  return pruned.root;
}

type FoundValue = Parameters<JSONParser['onValue']>[0];
type Token = Parameters<JSONParser['onToken']>[0]['token'];

/** The value of a body, pruned while its parts end. */
class PrunedValue {
  root: unknown = undefined;
  readonly #pruning: Pruning;
  #keptBytes = 0;
  readonly #budget: ParsingBudget;
  #depth = 0;

  constructor(pruning: Pruning, budget: ParsingBudget) {
    this.#pruning = pruning;
    this.#budget = budget;
  }

  checkDepth(token: Token): void {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) this.#depth += 1;
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.#depth -= 1;
    if (this.#depth > MAX_DEPTH) throw new AnswerTooLong('The response is nested too deeply.');
  }

  take({ value, key, parent, stack }: FoundValue): void {
    this.#budget.values -= 1;
    if (parent === undefined) this.root = value;
    else if (Array.isArray(parent)) this.#takeItem(value, { parent, list: String(stack.at(-1)?.key ?? '') });
    else if (typeof key === 'string' && this.#pruning.keeps.has(key)) this.#keptBytes += sizeOf(value);
    // It is the newest field, which an object loses without a cost.
    else Reflect.deleteProperty(parent, key ?? '');
    if (this.#keptBytes > MAX_KEPT_BYTES || this.#budget.values < 0)
      throw new AnswerTooLong('The response has too many parts.');
  }

  #takeItem(value: unknown, { parent, list }: { readonly parent: unknown[]; readonly list: string }): void {
    if (!isJsonObject(value)) return;
    const kept = this.#pruning.keptItem(value, list);
    if (kept === undefined) parent.pop();
    else parent[parent.length - 1] = kept;
    this.#keptBytes += sizeOf(kept);
  }
}

/** Returns an estimate of the memory of one value, without the objects in it. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return OBJECT_BYTES + ITEM_BYTES * value.length;
  if (!isJsonObject(value)) return 0;
  const texts = Object.values(value).filter((one) => typeof one === 'string');
  return texts.reduce((sum, one) => sum + one.length, OBJECT_BYTES);
}
