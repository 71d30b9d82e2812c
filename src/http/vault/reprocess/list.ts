import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { memberReports } from '#http/vault/reprocess/member-reports.ts';
import { reportSchema } from '#http/vault/reprocess/record.ts';

const listSchema = z
  .strictObject({
    data: z.array(reportSchema),
    nextCursor: z.null().meta({ description: 'A vault has at most 20 reports, and the list has all of them' }),
  })
  .meta({ id: 'ReprocessReportList' });

/**
 * GET /vault/{vaultId}/reprocess-report: returns what the newest requests to scan for missed
 * incoming transactions came to, newest first.
 */
export const listReports = route({
  method: 'GET',
  path: '/vault/:vaultId/reprocess-report',
  access: 'read',
  summary: 'List the reports of scans for missed incoming transactions, newest first',
  answer: { status: 200, schema: listSchema },
  refuses: ['forbidden'],
  handle: list,
});

async function list(context: HttpContext, { params: { vaultId } }: Input<{ params: 'vaultId' }>): Promise<Response> {
  const reports = await memberReports(context, { vaultId, reportAtMs: null });
  return reports.ok ? context.json({ data: reports.value, nextCursor: null }) : reports.refusal;
}
