import type { HttpContext, Route } from '#http/context.ts';
import { actorOf } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { refusalProblem } from '#http/problem.ts';
import { recordOf, transactionIdOf, vaultObjectOf } from '#http/transaction/view.ts';

/**
 * GET /transaction/{txId} (spec part 4): the record as it is now, straight from its vault.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`.
 */
export const readTransaction: Route = {
  method: 'GET',
  path: '/transaction/:txId',
  access: 'read',
  handle: async (context: HttpContext) => {
    const id = transactionIdOf(context);
    if (id instanceof Response) return id;
    const actor = actorOf(context);
    const read = await askObject(
      () => vaultObjectOf(context, id),
      (vault) => vault.read(actor, id),
    );
    return read.ok ? context.json(recordOf(context, read.value)) : refusalProblem(context, read.refusal);
  },
};
