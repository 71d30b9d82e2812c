import * as z from 'zod';
import { chainAccess } from '#chains/access.ts';
import { chainsFrom, findChain } from '#chains/registry.ts';
import type { HttpContext, Route } from '#http/context.ts';
import { actorOf } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { problem, refusalProblem } from '#http/problem.ts';
import { check, invalidRequest, jsonBody } from '#http/request-check.ts';
import {
  addressField,
  amountField,
  placeFields,
  preparationProblem,
  readCreation,
} from '#http/transaction/creation.ts';
import { readTransfer } from '#http/transaction/transfer.ts';

const estimateBody = z.strictObject({
  ...placeFields,
  to: addressField,
  amount: amountField,
  /** Ours: a token transfer takes other gas than a payment. */
  tokenAddress: addressField.nullish(),
});

/**
 * POST /transaction/estimate-fee (spec part 4): what a transfer would cost now, slow, normal and fast. Stores nothing, and counts
 * as a read.
 *
 * Refuses, in order: the credential, `body-too-large`, `unsupported-media-type`, `malformed-json`, `invalid-request`,
 * `forbidden`, `chain-not-enabled`, `wallet-not-ready`, `too-many-pending`, `insufficient-funds`, `would-revert`,
 * `chain-unavailable`.
 */
export const estimateFee: Route = {
  method: 'POST',
  path: '/transaction/estimate-fee',
  access: 'read',
  checks: [...jsonBody, check('json', estimateBody)],
  handle: estimate,
};

async function estimate(context: HttpContext): Promise<Response> {
  const body = estimateBody.parse(await context.req.json());
  const read = readCreation(context, body, readTransfer(body));
  if (!read.ok) return invalidRequest(context, read.refusal);
  const actor = actorOf(context);
  const rehearsed = await askObject(
    () => context.env.VAULT.getByName(`vault:${body.vaultId}`),
    (vault) => vault.rehearse(actor, { ...read.value, idempotency: null }),
  );
  if (!rehearsed.ok) return refusalProblem(context, rehearsed.refusal);
  const { intent } = rehearsed.value.view.transaction;
  const chain = findChain(chainsFrom(context.env), read.value.chain);
  const adapter = chain === null ? null : chainAccess(context.env, chain);
  if (chain === null || adapter === null || intent.kind === 'message') {
    return problem(context, 'chain-unavailable', { detail: `No node is configured for ${read.value.chain}.` });
  }
  const estimated = await adapter.estimate(intent);
  if (!estimated.ok) return preparationProblem(context, estimated.refusal);
  const { nativeSymbol: symbol, nativeDecimals: decimals } = chain;
  return context.json({ chain: chain.name, feeAsset: { tokenAddress: null, symbol, decimals }, ...estimated.value });
}
