import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';

/**
 * The reaction of a faulty RPC node to one call. A call without a rule is forwarded to the real
 * chain.
 */
export type Rule =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly status: number; readonly body: string; readonly type?: string }
  /** Forwards the call, and returns an error in place of the response. */
  | { readonly passedOn: { readonly code: number; readonly message: string } }
  /** Forwards the call, and closes the connection before the response. */
  | 'swallow'
  /** Forwards the call, and closes the connection in the middle of the response. */
  | 'halve'
  /** Forwards the call, and never responds. */
  | 'mute'
  /** Does not forward the call, and never responds. */
  | 'ignore'
  /** Closes the connection without forwarding the call. */
  | 'cut'
  /** Sends headers and half a body, and keeps the connection open. */
  | 'hang'
  | 'forward';

type Script = (method: string, params: readonly unknown[]) => Rule;

export interface FalseNode {
  readonly url: string;
  /** The methods that were called, in order. */
  readonly requests: string[];
  follow(script: Script): void;
  stop(): Promise<void>;
}

/**
 * Starts a small JSON-RPC server that responds according to a script. @param behind URL of a real
 * RPC node
 */
export async function startFalseNode(behind: string): Promise<FalseNode> {
  let script: Script = () => 'forward';
  const requests: string[] = [];
  let before: Promise<unknown> = Promise.resolve();
  // Forwards one call after the other: under many calls at once, anvil locks up after a thousand
  // transactions (foundry-rs/foundry#10452 is similar).
  const forward = (body: string) => {
    const real = before.then(() => requestOf(behind, body));
    before = real.catch(() => {});
    return real;
  };
  const server = createServer((request, response) => {
    const scene = {
      forward,
      requests,
      script: (method: string, params: readonly unknown[]) => script(method, params),
    };
    answer(request, response, scene).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    // The path contains a key, as providers' URLs do, so that tests can check that no detail
    // repeats it.
    url: `http://127.0.0.1:${address.port}/v2/k3yk3yk3yk3y`,
    requests,
    follow: (next) => {
      script = next;
      requests.length = 0;
    },
    stop: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Real {
  readonly status: number;
  readonly text: string;
}

async function requestOf(url: string, body: string): Promise<Real> {
  const reply = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return { status: reply.status, text: await reply.text() };
}

interface Scene {
  /** Forwards the call to the real chain. Returns its status and its body. */
  readonly forward: (body: string) => Promise<Real>;
  readonly requests: string[];
  readonly script: Script;
}

async function answer(request: IncomingMessage, response: ServerResponse, scene: Scene): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');
  const { id, method, params }: { id: number; method: string; params: readonly unknown[] } = JSON.parse(body);
  scene.requests.push(method);
  const rule = scene.script(method, params);
  if (rule === 'cut') return void response.destroy();
  if (rule === 'hang') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    return void response.write('{"jsonrpc":"2.0",');
  }
  if (rule === 'ignore') return;
  if (typeof rule === 'string') {
    const { status, text } = await scene.forward(body);
    if (rule === 'mute') return;
    if (rule === 'swallow') return void response.destroy();
    if (rule === 'forward') return void response.writeHead(status, { 'content-type': 'application/json' }).end(text);
    response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, text.length / 2));
    return void response.destroy();
  }
  if ('status' in rule) {
    return void response.writeHead(rule.status, { 'content-type': rule.type ?? 'application/json' }).end(rule.body);
  }
  if ('passedOn' in rule) await scene.forward(body);
  const said = 'passedOn' in rule ? { error: rule.passedOn } : rule;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
}
