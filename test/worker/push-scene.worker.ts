import { runInDurableObject } from 'cloudflare:test';
import { expect, vi } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { Person, Treasury } from '../http/scene.worker.ts';
import { call, coordinator } from '../http/scene.worker.ts';
import { consumed } from './queue-batch.ts';
import type { Browser } from './push-service.ts';
import { decrypt, newBrowser, refusalOf } from './push-service.ts';
import { answerOfNode } from './fake-node.ts';

const keys: { readonly publicKey: string } = JSON.parse((coordinator as CoordinatorEnv).WEB_PUSH ?? '{}');
let browsers = 0;

/** Returns a new browser of a person, with a subscription. */
export async function subscribed(person: Person): Promise<Browser> {
  browsers += 1;
  const browser = newBrowser(`https://push.test/browser-${browsers}`);
  const answer = await call('POST /push-subscription', { token: person.token, body: browser.subscription });
  expect(answer.status).toBe(201);
  return browser;
}

/** Simulates a push service: it accepts what a real one accepts, and answers as the test sets. */
export function pushService(answer: (url: string) => number | 'away' = () => 201) {
  const taken: { readonly url: string; readonly body: Uint8Array; readonly topic: string | null }[] = [];
  const requests: string[] = [];
  vi.stubGlobal('fetch', async (input: string, init: RequestInit) => {
    const ofNode = await answerOfNode(input, init);
    if (ofNode !== null) return ofNode;
    const request = new Request(input, init);
    requests.push(request.url);
    expect(await refusalOf(request, keys.publicKey)).toBeNull();
    const status = answer(request.url);
    if (status === 'away') throw new TypeError('connection refused');
    if (status < 300) {
      const body = new Uint8Array(await request.arrayBuffer());
      taken.push({ url: request.url, body, topic: request.headers.get('topic') });
    }
    return new Response(null, { status });
  });
  const read = async (browser: Browser) => {
    const own = taken.filter(({ url }) => url === browser.subscription.endpoint);
    return Promise.all(
      own.map(async ({ body }) => JSON.parse(await decrypt(browser, body)) as Record<string, unknown>),
    );
  };
  return { taken, requests, read };
}

/** Delivers the open notifications of a vault. */
export async function sentNotifications({ id }: Pick<Treasury, 'id'>): Promise<void> {
  const open = await runInDurableObject(coordinator.VAULT.getByName(`vault:${id}`), (_, { storage }) =>
    storage.sql.exec<{ tx_id: string }>("SELECT tx_id FROM outbox WHERE job = 'notify'").toArray(),
  );
  const messages = open.map(({ tx_id: transactionId }) => ({ vaultId: id, transactionId, job: 'notify' }));
  expect(await consumed('conclave-notification', messages)).toEqual({ acked: messages.length, retried: 0 });
}
