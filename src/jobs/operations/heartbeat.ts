import { heartbeatUrl } from '#domain/operations/heartbeat.ts';
import { outgoingCall } from '#jobs/operations/outgoing-call.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';

/**
 * Calls the check that notifies the person on call when no call comes. Alerts depend on the sweep,
 * so a sweep that does not run would be silent otherwise. A failed call is logged: the check
 * notices it by itself.
 */
export async function callHeartbeat({ HEARTBEAT_URL }: Pick<CoordinatorConfig, 'HEARTBEAT_URL'>): Promise<void> {
  const url = heartbeatUrl(HEARTBEAT_URL);
  if (url === null) return;
  const { fault } = await outgoingCall(url, { method: 'GET' });
  if (fault !== null) console.error(JSON.stringify({ event: 'heartbeat-failed', fault }));
}
