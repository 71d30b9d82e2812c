import * as z from 'zod';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { contractWarnings, recipientsOf } from '#chains/inspect/recipient-warnings.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Allowance } from '#chains/chain-client.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { movementsOf } from '#domain/asset/movement.ts';
import { isPending } from '#domain/transaction/transaction.ts';
import type { AssetNames } from '#http/encode/asset.ts';
import { assetRecord, assetSchema, balanceChangeSchema, movementsRecord } from '#http/encode/asset.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { lockedUtxosOf } from '#http/transaction/locked-utxos.ts';
import { warning } from '#http/encode/transaction-schema.ts';
import { vaultStubOf } from '#http/transaction/transaction-path.ts';

const simulationSchema = z
  .strictObject({
    outcome: z
      .enum(['succeeds', 'fails', 'unknown'])
      .meta({ description: 'Result if the transaction were executed now; unknown when no RPC node has simulated it' }),
    detail: z.string().nullable(),
    balanceChanges: z
      .array(balanceChangeSchema)
      .meta({ description: 'Balance changes of the wallet, without the fee' }),
    allowances: z.array(
      z.strictObject({
        asset: assetSchema,
        tokenId: z.string().nullable().meta({ description: 'Token id within a collection' }),
        spender: z.string(),
        amount: z.string().nullable().meta({ description: 'Null for an allowance of all tokens, now and later' }),
      }),
    ),
    warnings: z.array(warning).meta({
      description:
        'Warnings of the current state of the chain, as one RPC node reports it; an open set of codes. ' +
        '`recipient-is-contract`: a recipient is a contract. Empty when no RPC node answers.',
    }),
  })
  .meta({ id: 'Simulation' });

type SimulationRecord = z.infer<typeof simulationSchema>;

/**
 * GET /transaction/{txId}/simulation: returns the effect on the wallet if a pending transaction
 * were executed now, as an RPC node simulates it: the balance changes and the allowances. It is a
 * warning for signers and no part of what they approve.
 */
export const simulation = route({
  method: 'GET',
  path: '/transaction/:txId/simulation',
  access: 'read',
  summary: 'Simulate a pending transaction',
  answer: { status: 200, schema: simulationSchema },
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-pending'],
  handle: simulate,
});

async function simulate(context: HttpContext, { params: { txId: id } }: Input<{ params: 'txId' }>): Promise<Response> {
  const actor = actorOf(context);
  const read = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.query(actor, { type: 'readRecord', id }),
  );
  if (!read.ok) return refusalProblem(context, read.refusal);
  const transaction = 'transaction' in read.value ? read.value.transaction : null;
  if (transaction === null || !isPending(transaction.state)) {
    return problem(context, 'transaction-not-pending', { detail: 'The transaction is not pending.' });
  }
  return context.json(await simulated(context, transaction.intent, read.value.policy.rules));
}

async function simulated(context: HttpContext, intent: Intent, rules: OptionalRules): Promise<SimulationRecord> {
  if (intent.kind === 'message') return unknown('A message is not executed on a chain, so it cannot be simulated.');
  const chain = findChain(chainsFrom(context.env), intent.chain);
  const client = chain === null ? null : chainClientFor(context.env, chain);
  if (chain === null || client === null) return unknown('No RPC node is configured for the chain of the transaction.');
  const locked = await lockedUtxosOf(context, { chain, vaultId: intent.vaultId });
  const [answer, contracts] = await Promise.all([
    client.simulate(intent, locked),
    client.contracts(recipientsOf(intent)),
  ]);
  const warnings = contracts.ok ? contractWarnings(contracts.value) : [];
  if (!answer.ok) return { ...unknown(answer.refusal.detail), warnings };
  if (answer.value.outcome === 'fails') return { ...unknown(answer.value.detail), outcome: 'fails', warnings };
  const { movements, allowances } = answer.value;
  const names = { chain, rules };
  const { balanceChanges } = movementsRecord(movementsOf(intent.from, movements, chain), names);
  return {
    outcome: 'succeeds',
    detail: null,
    balanceChanges,
    allowances: allowances.map((one) => allowanceRecord(one, names)),
    warnings,
  };
}

function unknown(detail: string): SimulationRecord {
  return { outcome: 'unknown', detail, balanceChanges: [], allowances: [], warnings: [] };
}

function allowanceRecord(
  { tokenAddress, ...rest }: Allowance,
  names: AssetNames,
): SimulationRecord['allowances'][number] {
  return { asset: assetRecord(tokenAddress, names), ...rest };
}
