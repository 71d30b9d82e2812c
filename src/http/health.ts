import * as z from 'zod';
import { isSweepLate } from '#domain/operations/service-health.ts';
import { preventsReadiness } from '#domain/operations/raised-alert.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { problem } from '#http/encode/problem.ts';
import { settingFaults } from '#http/internal/setting-faults.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import { route } from '#http/edge/route.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { errorText } from '#store/error-text.ts';
import { readOpenAlerts } from '#store/operations/alerts.ts';
import { readSweepEnd } from '#store/operations/sweep-runs.ts';

/**
 * GET /health: reports that the Worker responds. It calls no other system, so it cannot be used to
 * cause load.
 */
export const health = route({
  method: 'GET',
  path: '/health',
  access: 'anyone',
  summary: 'Check that the service is available',
  answer: { status: 200, schema: z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' }) },
  refuses: [],
  handle: (context: HttpContext) => context.json({ status: 'ok' }),
});

/**
 * GET /health/ready: reports whether payments can be signed and sent, by what the last sweep found.
 * It reads D1 and calls no co-signer and no RPC node. `codes` of a refusal has codes of alerts
 * alone: the request needs no credential.
 */
export const ready = route({
  method: 'GET',
  path: '/health/ready',
  access: 'anyone',
  summary: 'Check that payments can be signed and sent',
  answer: { status: 200, schema: z.strictObject({ status: z.literal('ready') }).meta({ id: 'Readiness' }) },
  refuses: ['quota-exceeded', 'not-ready'],
  handle: async (context: HttpContext) => {
    const limited = await limitByAddress(context);
    if (limited !== null) return limited;
    const codes = await codesAgainstReadiness(context.env, Date.now());
    if (codes.length > 0) return problem(context, 'not-ready', { members: { codes } });
    return context.json({ status: 'ready' });
  },
});

async function codesAgainstReadiness(env: CoordinatorEnv, nowMs: number): Promise<readonly string[]> {
  const ofSettings = settingFaults(env).length > 0 ? ['setting-invalid'] : [];
  try {
    const [sweptAtMs, alerts] = await Promise.all([readSweepEnd(env.DB), readOpenAlerts(env.DB)]);
    const late = isSweepLate(sweptAtMs, nowMs) ? ['late-sweep'] : [];
    const open = alerts.flatMap(({ code }) => (preventsReadiness(code) ? [code] : []));
    return [...new Set([...ofSettings, ...late, ...open])];
  } catch (error) {
    console.error(JSON.stringify({ event: 'readiness-unknown', error: errorText(error) }));
    return [...ofSettings, 'database-unavailable'];
  }
}
