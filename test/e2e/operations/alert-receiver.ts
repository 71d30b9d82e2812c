import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stack } from '#local/stack/stack.ts';

const QUARTER_MS = 900_000;
const SECRET = Buffer.from('s'.repeat(32));

/** The alerts that one sweep has sent, as `TYPE ID`, sorted, and the number of its heartbeats. */
interface Swept {
  readonly received: readonly string[];
  readonly heartbeats: number;
}

/** A receiver of alerts and heartbeats, which checks each signature. */
export interface AlertReceiver {
  /** The settings that send alerts and heartbeats here. */
  readonly variables: Readonly<Record<string, string>>;
  /** Runs the sweep of a coming quarter of an hour: 0 for the next one. */
  readonly sweptAt: (stack: Stack, quarter: number) => Promise<Swept>;
  readonly stop: () => Promise<void>;
}

export async function startAlertReceiver(): Promise<AlertReceiver> {
  const received: string[] = [];
  let heartbeats = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      if (request.url === '/ping') heartbeats += 1;
      else received.push(noted(request.headers, text));
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const secrets = [`whsec_${SECRET.toString('base64')}`];
  return {
    variables: {
      ALERT_WEBHOOK: JSON.stringify({ form: 'json', url: `${url}/alert`, secrets }),
      HEARTBEAT_URL: `${url}/ping`,
    },
    sweptAt: async (stack, quarter) => {
      received.length = 0;
      heartbeats = 0;
      await stack.sweep(QUARTER_MS * (Math.ceil(Date.now() / QUARTER_MS) + quarter));
      return { received: received.toSorted(), heartbeats };
    },
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

/** Returns the state and the id of an alert, where the signature is right. */
function noted(headers: IncomingHttpHeaders, text: string): string {
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], text].join('.');
  const mac = `v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`;
  const { type, data } = JSON.parse(text) as { type: string; data: { id: string } };
  return headers['webhook-signature'] === mac ? `${type} ${data.id}` : 'wrong signature';
}
