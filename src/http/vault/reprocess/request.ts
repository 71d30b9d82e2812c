import * as z from 'zod';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { reportIdOf } from '#http/vault/reprocess/record.ts';
import { delaySecondsTo, reopenDeliveries } from '#store/deliveries.ts';
import { reopenScans, requestRescan } from '#store/scans.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const acknowledgement = z
  .strictObject({
    accepted: z.literal(true),
    chains: z
      .array(z.string())
      .meta({ description: 'Chains that are scanned; chains without an RPC node are not scanned' }),
    reportId: z.string().meta({ description: 'Id of the report; requests of the same minute have one report' }),
  })
  .meta({ id: 'ReprocessAcknowledgement' });

/**
 * POST /vault/{vaultId}/reprocess-incoming-transactions: processes incoming transactions again
 * after one was missed. It scans the newest blocks of each chain for every wallet of the vault,
 * checks every record that is not final, compares balances with the chain, and retries the failed
 * scans of the vault and failed deliveries of monitors. The response acknowledges the request
 * immediately. Transactions that the scan finds are listed as if a monitor had reported them.
 *
 * A viewer changes nothing.
 */
export const reprocess = route({
  method: 'POST',
  path: '/vault/:vaultId/reprocess-incoming-transactions',
  access: 'write',
  scope: 'create',
  summary: 'Scan for missed incoming transactions',
  answer: { status: 202, schema: acknowledgement },
  refuses: ['forbidden'],
  handle: request,
});

async function request(context: HttpContext, { params: { vaultId } }: Input<{ params: 'vaultId' }>): Promise<Response> {
  const actor = actorOf(context);
  const wallets = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'requestRescan' }),
  );
  if (!wallets.ok) return refusalProblem(context, wallets.refusal);
  const nowMs = Date.now();
  const known = chainsFrom(context.env);
  const scans = wallets.value.map(({ chain: name, address }) => {
    const chain = findChain(known, name);
    const isReadable = chain !== null && chainClientFor(context.env, chain) !== null;
    return { chain: chain?.caip2 ?? name, address, isReadable };
  });
  const rescan = { vaultId, wallets: scans };
  const { reportAtMs, open } = await requestRescan(context.env.DB, rescan, nowMs);
  const { DB: db, ACTIVITY_QUEUE: queue } = context.env;
  for (const scanId of [...open, ...(await reopenScans(db, vaultId, nowMs))]) await queue.send({ scanId });
  for (const { id, dueAtMs } of await reopenDeliveries(db, nowMs)) {
    await queue.send({ deliveryId: id, dueAtMs }, { delaySeconds: delaySecondsTo(dueAtMs, nowMs) });
  }
  const chains = scans.flatMap(({ chain, isReadable }) => (isReadable ? (findChain(known, chain)?.name ?? []) : []));
  return context.json({ accepted: true, chains, reportId: reportIdOf(reportAtMs) }, 202);
}
