import type * as z from 'zod';
import { chainsFrom } from '#chains/families/registry.ts';
import type { VaultId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import type { reportSchema } from '#http/vault/reprocess/record.ts';
import { reportRecord } from '#http/vault/reprocess/record.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { scanReports } from '#store/scan-reports.ts';

/**
 * Returns the reports of the vault in the path, the newest first, or the one with this time. The
 * vault object decides whether the caller reads them. Refuses `invalid-request`, `forbidden`.
 */
export async function memberReports(
  context: HttpContext,
  { vaultId, reportAtMs }: { readonly vaultId: VaultId; readonly reportAtMs: number | null },
): Promise<Result<z.infer<typeof reportSchema>[], Response>> {
  const actor = actorOf(context);
  const entered = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'projectedScope' }),
  );
  if (!entered.ok) return refused(refusalProblem(context, entered.refusal));
  const chains = chainsFrom(context.env);
  const reports = await scanReports(context.env.DB, { vaultId, reportAtMs, nowMs: Date.now() });
  return accepted(reports.map((report) => reportRecord(report, chains)));
}
