import * as z from 'zod';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { problem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { create, creationFields, CREATION_REFUSALS, feeFields } from '#http/transaction/creation.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';
import { consolidation } from '#objects/vault/writes/new-transaction.ts';

/** The maximum number of inputs that one transaction of a P2TR wallet can spend. */
const MAX_INPUTS = 50;

/** What signers read in the note of a consolidation with `includeMayCarryMore`. */
const CARRYING_NOTE = 'Includes UTXOs of up to 10,000 satoshi, which may carry inscriptions, runes or ordinals';

const consolidateBody = z
  .strictObject({
    chain: creationFields.chain,
    note: creationFields.note,
    externalId: creationFields.externalId,
    ...feeFields,
    coins: z.int().min(2).max(MAX_INPUTS).optional().meta({
      description: 'Number of the smallest UTXOs to consolidate; when absent, as many as one transaction can spend',
    }),
    includeMayCarryMore: z
      .boolean()
      .optional()
      .meta({
        description:
          'Also consolidates UTXOs of up to 10,000 satoshi on P2TR, which may carry an inscription, a rune or an ' +
          'ordinal. What they carry is lost. The note of the transaction says so.',
      }),
  })
  .meta({ examples: [{ chain: 'bitcoin', coins: 40 }] });

/**
 * POST /vault/{vaultId}/consolidate: creates a transaction that merges the smallest UTXOs of a
 * Bitcoin wallet into one, at the slow fee. Only the fee leaves the wallet. Without `maxFee` its
 * cap follows from the size. The transaction needs the same approvals as any other. Responds with
 * 201 and the record. UTXOs that cost more to spend than their value are left out, and so are UTXOs
 * that other transactions have reserved by then, and those that may carry more than satoshi unless
 * `includeMayCarryMore` is true. The last is no field of the intent: a co-signer signs the bytes,
 * which name each UTXO. The note is part of the intent, so each signer reads it there.
 *
 * A chain without UTXOs is `not-on-this-chain`.
 */
export const consolidate = route({
  method: 'POST',
  path: '/vault/:vaultId/consolidate',
  access: 'write',
  scope: 'create',
  summary: 'Consolidate the smallest UTXOs of a Bitcoin wallet',
  body: consolidateBody,
  answer: transactionAnswer(201),
  refuses: CREATION_REFUSALS,
  handle: propose,
});

async function propose(
  context: HttpContext,
  { params: { vaultId }, body }: Input<{ params: 'vaultId'; body: typeof consolidateBody }>,
): Promise<Response> {
  const { coins: joins = MAX_INPUTS, note, includeMayCarryMore, ...fields } = body;
  const chain = findChain(chainsFrom(context.env), body.chain);
  if (chain !== null && rulesFor(chain).ordering.by !== 'utxos') {
    return problem(context, 'not-on-this-chain', { detail: `There are no UTXOs to consolidate on ${chain.name}.` });
  }
  const frame = { ...fields, vaultId, speed: 'slow', joins } as const;
  const text = note ?? defaultNote(joins);
  const request =
    includeMayCarryMore === true
      ? ({ ...frame, note: `${text}. ${CARRYING_NOTE}`, includeMayCarryMore } as const)
      : { ...frame, note: text };
  if (!creationFields.note.safeParse(request.note).success) {
    const detail = `Must leave ${CARRYING_NOTE.length + 2} characters for the text that includeMayCarryMore adds.`;
    return invalidRequest(context, [{ pointer: '/note', code: 'too-long', detail }]);
  }
  // The vault fills in the address of its wallet.
  return create(context, request, { kind: 'transfer', read: () => consolidation('') });
}

/**
 * Returns the note of a consolidation. Signers see a payment of zero to the wallet itself, and the
 * note explains it.
 */
function defaultNote(joins: number): string {
  return `Consolidates up to ${joins} of the smallest UTXOs of the wallet`;
}
