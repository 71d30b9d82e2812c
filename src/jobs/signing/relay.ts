import * as z from 'zod';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';
import { isUnanswered } from '#cosigner-client/client.ts';
import { SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** One run of a protocol among co-signers, driven by the coordinator. */
export interface Run {
  readonly cosigners: readonly CosignerClient[];
  /** The object of a participating co-signer, such as `key/abc`. */
  readonly path: (cosigner: CosignerClient) => string;
  /** The request that each co-signer opens. */
  readonly request: (cosigner: CosignerClient) => unknown;
  /** The answers of `openAhead` of these co-signers: the request is then sent with the start. */
  readonly ahead?: OpenedSessions;
  /**
   * Requests receipts of co-signers that take no part, which store the request for it. Absent when
   * none are needed.
   */
  readonly receipts?: () => Promise<Result<Readonly<Record<string, string>>, CosignerFault>>;
  /**
   * Called when every co-signer has opened the session and none has begun: false ends the run
   * there. No participant has stored anything then. The receipts are requested afterwards, because
   * a co-signer that gives one has written its row.
   */
  readonly mayStart?: () => Promise<boolean>;
  /**
   * Called before that. Returns a co-signer that takes no part, whose receipt is needed and that
   * does not answer; null without one. Absent like `receipts`.
   */
  readonly findUnreachable?: () => Promise<CosignerFault | null>;
}

/** More rounds than any protocol has. */
const MAX_ROUNDS = 10;

const opened = z.object({ nonce: z.string(), opening: z.string() });
/** The first version of the requests has envelopes in base64. */
const envelopeBytes = z.union([
  z.instanceof(Uint8Array),
  z.string().transform((text) => Uint8Array.from(Buffer.from(text, 'base64'))),
]);
const answered = z.object({
  sid: z.string(),
  envelopes: z.record(z.string(), envelopeBytes).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
});
type Answer = z.infer<typeof answered>;

/** The answers of co-signers that opened a session. */
export type OpenedSessions = ReadonlyMap<PartyIndex, z.infer<typeof opened>>;

/**
 * Opens a session on every co-signer before its request is known, which saves a round trip when it
 * is. Only signing sessions of ECDSA can be opened ahead, under the newest protocol.
 */
export function openAhead({
  cosigners,
  path,
}: Pick<Run, 'cosigners' | 'path'>): Promise<Result<OpenedSessions, CosignerFault>> {
  const body = { protocol: SUPPORTED_PROTOCOLS[0], request: null };
  return all(cosigners, (cosigner) => callParty(cosigner, `${path(cosigner)}/open`, body, opened));
}

/**
 * Drives a protocol from its opening to its results. The coordinator relays sealed envelopes
 * between the co-signers: it can stop a run, and nothing else. Returns the result of every
 * co-signer, or the first fault, after which the co-signers discard the run.
 *
 * @param protocols that the coordinator may name, the newest first
 */
export async function relay(
  run: Run,
  protocols: readonly string[] = SUPPORTED_PROTOCOLS,
): Promise<Result<ReadonlyMap<PartyIndex, Readonly<Record<string, unknown>>>, CosignerFault>> {
  // Without `mayStart` the receipts are requested at the same time.
  const early = run.mayStart === undefined ? run.receipts?.() : undefined;
  const { ahead } = run;
  const sessions = ahead === undefined ? openedBy(run, protocols) : accepted(ahead);
  const [begun, unreachable] = await Promise.all([sessions, run.findUnreachable?.() ?? null]);
  if (!begun.ok) return begun;
  if (unreachable !== null) return refused(unreachable);
  if ((await run.mayStart?.()) === false) return refused(supersededAt(run));
  const receipts = (await (early ?? run.receipts?.())) ?? accepted({});
  if (!receipts.ok) return receipts;
  const invitation = {
    nonces: Object.fromEntries([...begun.value].map(([index, { nonce }]) => [String(index), nonce])),
    openings: Object.fromEntries([...begun.value].map(([index, { opening }]) => [String(index), opening])),
    receipts: receipts.value,
  };
  let answers = await all(run.cosigners, (cosigner) =>
    callParty(
      cosigner,
      `${run.path(cosigner)}/start`,
      ahead === undefined ? invitation : { ...invitation, request: run.request(cosigner) },
      answered,
    ),
  );
  for (let round = 2; round <= MAX_ROUNDS && answers.ok; round++) {
    const results = resultsOf(answers.value);
    if (results !== null) return accepted(results);
    const before = answers.value;
    answers = await all(run.cosigners, (cosigner) => {
      const sid = before.get(cosigner.index)?.sid ?? '';
      return callParty(
        cosigner,
        `${run.path(cosigner)}/round`,
        { sid, round, envelopes: addressedTo(cosigner, before) },
        answered,
      );
    });
  }
  if (!answers.ok) return answers;
  throw new Error('a protocol has no end');
}

/**
 * Returns the fault of bytes that must no longer be signed. No co-signer is the cause; the first
 * one stands for all.
 */
function supersededAt({ cosigners }: Run): CosignerFault {
  const [first] = cosigners;
  if (first === undefined) throw new Error('a run has no co-signers');
  return { cosigner: first.index, code: 'superseded', detail: null, culprit: null };
}

async function callParty<T>(
  cosigner: CosignerClient,
  path: string,
  body: unknown,
  schema: z.ZodType<T>,
): Promise<Result<T, CosignerFault>> {
  const answer = await cosigner.call(path, body);
  if (!answer.ok) return answer;
  const parsed = schema.safeParse(answer.value);
  const fault = {
    cosigner: cosigner.index,
    code: 'unreachable',
    detail: 'answered something else',
    culprit: cosigner.index,
  };
  return parsed.success ? accepted(parsed.data) : refused(fault);
}

/**
 * Opens the session on every co-signer under the newest protocol. When some do not support it, it
 * opens once more under the newest one that all of them support. Co-signers are upgraded one after
 * the other, each by its own operator.
 */
async function openedBy(run: Run, protocols: readonly string[]) {
  const openUnder = (protocol: string) =>
    Promise.all(
      run.cosigners.map((cosigner) =>
        callParty(cosigner, `${run.path(cosigner)}/open`, { protocol, request: run.request(cosigner) }, opened),
      ),
    );
  const [newest = ''] = protocols;
  const answers = await openUnder(newest);
  const supported = answers.flatMap((answer) =>
    !answer.ok && answer.refusal.code === 'protocol-mismatch' ? [(answer.refusal.detail ?? '').split(' ')] : [],
  );
  const common = protocols.find((protocol) => supported.every((digests) => digests.includes(protocol)));
  if (supported.length === 0 || common === undefined) return gathered(run.cosigners, answers);
  return gathered(run.cosigners, await openUnder(common));
}

/** Calls every co-signer at once. */
async function all<T>(
  cosigners: readonly CosignerClient[],
  callOne: (cosigner: CosignerClient) => Promise<Result<T, CosignerFault>>,
): Promise<Result<ReadonlyMap<PartyIndex, T>, CosignerFault>> {
  return gathered(cosigners, await Promise.all(cosigners.map(callOne)));
}

/**
 * Returns the answers of every co-signer, or one fault for all: a refusal of the request takes
 * precedence over an unreachable co-signer.
 */
function gathered<T>(
  cosigners: readonly CosignerClient[],
  answers: readonly Result<T, CosignerFault>[],
): Result<ReadonlyMap<PartyIndex, T>, CosignerFault> {
  const values = new Map<PartyIndex, T>();
  const faults = answers.filter((answer) => !answer.ok);
  const fault = faults.find(({ refusal }) => !isUnanswered(refusal)) ?? faults[0];
  if (fault !== undefined) return fault;
  for (const [i, answer] of answers.entries()) {
    if (!answer.ok) continue;
    const cosigner = cosigners[i];
    if (cosigner !== undefined) values.set(cosigner.index, answer.value);
  }
  return accepted(values);
}

function addressedTo(cosigner: CosignerClient, answers: ReadonlyMap<PartyIndex, Answer>) {
  const envelopes: Record<string, Uint8Array> = {};
  for (const [from, answer] of answers) {
    const envelope = answer.envelopes?.[String(cosigner.index)];
    if (from !== cosigner.index && envelope !== undefined) envelopes[String(from)] = envelope;
  }
  return envelopes;
}

/** Returns the results when every co-signer has one, else null. */
function resultsOf(
  answers: ReadonlyMap<PartyIndex, Answer>,
): ReadonlyMap<PartyIndex, Readonly<Record<string, unknown>>> | null {
  const results = new Map<PartyIndex, Readonly<Record<string, unknown>>>();
  for (const [index, answer] of answers) {
    if (answer.result === undefined) return null;
    results.set(index, answer.result);
  }
  return results;
}
