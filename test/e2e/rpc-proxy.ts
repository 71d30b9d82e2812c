import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';

interface Call {
  /** The method of JSON-RPC, or the verb and path of REST. */
  readonly method: string;
  readonly text: string;
  readonly verb: string;
  readonly path: string;
}

/** A call that the gate holds: the caller waits, and the RPC node has not received the call. */
interface HeldCall {
  /**
   * Forwards the call to the RPC node and never answers the caller, as if the response were lost.
   */
  readonly deliverSilently: () => Promise<void>;
  /** Forwards the call to the RPC node and the response to the caller. */
  readonly deliver: () => Promise<void>;
  /** Answers the caller with `result`. The RPC node never receives the call. */
  readonly pretend: (result: unknown) => void;
}

/**
 * Returns the false response to a call, `{ result }` or `{ error }`, or undefined for a call that
 * is forwarded to the RPC node.
 */
type Lie = (method: string, params: readonly unknown[]) => Promise<object> | object | undefined;

/** A proxy between the service and the real RPC node that can stop one call at one exact moment. */
export interface Gate {
  readonly url: string;
  /** Holds the next call of this method. Returns the call once it arrives. */
  readonly hold: (method: string) => Promise<HeldCall>;
  /**
   * Answers calls with the responses that `lie` returns, without the RPC node. Null removes the
   * function.
   */
  readonly falsify: (lie: Lie | null) => void;
  /** Answers every call with this status, without the RPC node. Null opens the gate again. */
  readonly close: (status: number | null) => void;
  /**
   * Answers calls of these methods with null, as an RPC node without history does. An empty list
   * ends this.
   */
  readonly forget: (methods: readonly string[]) => void;
  /** The texts of all requests that the service has sent to the RPC node. */
  readonly said: readonly string[];
  readonly stop: () => Promise<void>;
}

export async function startGate(nodeUrl: string): Promise<Gate> {
  const holds = new Map<string, (call: HeldCall) => void>();
  const said: string[] = [];
  let closedWith: number | null = null;
  let forgotten: readonly string[] = [];
  let falsified: Lie | null = null;

  const forward = async ({ text, verb, path }: Call) => {
    const headers = { 'content-type': 'application/json' };
    const body = verb === 'GET' ? null : text;
    const answer = await fetch(`${nodeUrl}${path}`, { method: verb, headers, body });
    return { status: answer.status, text: await answer.text() };
  };
  const pass = async (call: Call, response: ServerResponse) => {
    const { status, text } = await forward(call);
    response.writeHead(status, { 'content-type': 'application/json' }).end(text);
  };
  const answer = async (call: Call, response: ServerResponse) => {
    said.push(call.text);
    const held = holds.get(call.method);
    if (held !== undefined) {
      holds.delete(call.method);
      held({
        deliver: () => pass(call, response),
        deliverSilently: async () => void (await forward(call)),
        pretend: (result) => void response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result })),
      });
      return;
    }
    const lie = call.path === '/' ? await falsified?.(call.method, paramsOf(call.text)) : undefined;
    if (lie !== undefined) {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...lie }));
      return;
    }
    if (closedWith === null && forgotten.includes(call.method)) {
      const { id }: { readonly id?: number } = JSON.parse(call.text);
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: null }));
    } else if (closedWith === null) await pass(call, response);
    else response.writeHead(closedWith).end();
  };

  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { method: verb = '', url: path = '/' } = request;
      const called: { method?: string } = path === '/' ? JSON.parse(text) : {};
      const method = called.method ?? `${verb} ${path}`;
      answer({ method, text, verb, path }, response).catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the gate has no address');
  return {
    url: `http://127.0.0.1:${address.port}`,
    hold: (method) => new Promise((resolve) => holds.set(method, resolve)),
    falsify: (lie) => (falsified = lie),
    close: (status) => (closedWith = status),
    forget: (methods) => (forgotten = methods),
    said,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function paramsOf(text: string): readonly unknown[] {
  const { params = [] }: { readonly params?: readonly unknown[] } = JSON.parse(text);
  return params;
}
