import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { BalanceRecord, TransactionRecord } from '../../cli/api-client.ts';

/** An event of a dashboard. */
export type LiveEvent =
  | { readonly event: 'transaction'; readonly record: TransactionRecord }
  | { readonly event: 'balance'; readonly record: BalanceRecord };

/**
 * Subscribes to the events of a vault. The stream is open when this returns; it ends with the
 * signal.
 */
export async function listen(
  url: string,
  order: { readonly vaultId: number; readonly cookie: string; readonly signal: AbortSignal },
): Promise<AsyncIterable<LiveEvent>> {
  const { cookie, signal } = order;
  const response = await fetch(`${url}/vault/${order.vaultId}/events`, { headers: { cookie }, signal });
  if (response.status !== 200 || response.body === null)
    throw new Error(`The event stream returned ${response.status}`);
  return read(response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()));
}

async function* read(events: ReadableStream<{ readonly event?: string | undefined; readonly data: string }>) {
  for await (const { event, data } of events) {
    if (event === 'transaction' || event === 'balance') yield { event, record: JSON.parse(data) } as LiveEvent;
  }
}
