import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { problem } from '#http/encode/problem.ts';
import { memberReports } from '#http/vault/reprocess/member-reports.ts';
import { reportSchema } from '#http/vault/reprocess/record.ts';

/**
 * GET /vault/{vaultId}/reprocess-report/{reportId}: returns what a request to scan for missed
 * incoming transactions came to so far.
 */
export const readReport = route({
  method: 'GET',
  path: '/vault/:vaultId/reprocess-report/:reportId',
  access: 'read',
  summary: 'Read the report of a scan for missed incoming transactions',
  answer: { status: 200, schema: reportSchema },
  refuses: ['forbidden', 'reprocess-report-not-found'],
  handle: read,
});

async function read(
  context: HttpContext,
  { params: { vaultId, reportId } }: Input<{ params: 'vaultId' | 'reportId' }>,
): Promise<Response> {
  const reports = await memberReports(context, { vaultId, reportAtMs: reportId });
  if (!reports.ok) return reports.refusal;
  const [report] = reports.value;
  const detail = 'The vault has no report with this id. It has the newest 20, for 30 days.';
  return report === undefined ? problem(context, 'reprocess-report-not-found', { detail }) : context.json(report);
}
