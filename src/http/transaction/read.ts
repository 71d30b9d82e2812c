import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { respondWithEtag, matchesEtag, taggedJson } from '#http/edge/etag.ts';
import { preferredWaitSeconds } from '#http/edge/prefer.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { recordOf, vaultStubOf } from '#http/transaction/transaction-path.ts';
import { versionOf } from '#objects/vault/views.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';

/**
 * GET /transaction/{txId}: returns the current record from the object of its vault. A matching
 * `If-None-Match` gives 304. `Prefer: wait=N` holds the response until something changes, for at
 * most 30 s. With `If-None-Match`, a change before the request gets an immediate response. Either
 * way it counts as one read.
 */
export const readTransaction = route({
  method: 'GET',
  path: '/transaction/:txId',
  access: 'read',
  summary: 'Read a transaction; with Prefer: wait, wait for a change',
  answer: transactionAnswer(200),
  conditional: true,
  waits: true,
  refuses: ['forbidden', 'transaction-not-found'],
  handle: read,
});

async function read(context: HttpContext, { params: { txId: id } }: Input<{ params: 'txId' }>): Promise<Response> {
  const actor = actorOf(context);
  const found = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.query(actor, { type: 'readRecord', id }),
  );
  if (!found.ok) return refusalProblem(context, found.refusal);
  const json = taggedJson(recordOf(context, found.value));
  const waitSeconds = preferredWaitSeconds(context);
  const isChanged = context.req.header('if-none-match') !== undefined && !matchesEtag(context, json);
  if (waitSeconds === 0 || isChanged) return respondWithEtag(context, json);
  const version = versionOf(found.value);
  const later = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.query(actor, { type: 'readRecordLater', id, seen: version, waitMs: waitSeconds * 1000 }),
  );
  if (!later.ok) return refusalProblem(context, later.refusal);
  context.header('preference-applied', `wait=${waitSeconds}`);
  return respondWithEtag(context, taggedJson(recordOf(context, later.value)));
}
