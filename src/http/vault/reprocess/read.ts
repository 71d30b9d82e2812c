import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { problem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { memberReports } from '#http/vault/reprocess/member-reports.ts';
import { reportSchema } from '#http/vault/reprocess/record.ts';

/** Milliseconds of the years 2001 to 2286. */
const REPORT_ID = /^[1-9][0-9]{12}$/;

/**
 * GET /vault/{vaultId}/reprocess-report/{reportId}: returns what a request to scan for missed
 * incoming transactions came to so far.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `reprocess-report-not-found`.
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

async function read(context: HttpContext): Promise<Response> {
  const id = context.req.param('reportId') ?? '';
  if (!REPORT_ID.test(id)) {
    return invalidRequest(context, [{ pointer: 'reportId', code: 'invalid-id', detail: 'Must be a report id.' }]);
  }
  const reports = await memberReports(context, Number.parseInt(id, 10));
  if (reports instanceof Response) return reports;
  const [report] = reports;
  const detail = 'The vault has no report with this id. It has the newest 20, for 30 days.';
  return report === undefined ? problem(context, 'reprocess-report-not-found', { detail }) : context.json(report);
}
