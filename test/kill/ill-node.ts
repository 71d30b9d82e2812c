import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a node has, or a provider in front of it, when it is ill. */
const ILLNESSES = {
  /** Nothing was done. */
  error: (turn: Turn) => end(turn, 500, 'Internal Server Error'),
  crowded: (turn: Turn) => end(turn, 429, 'Too Many Requests'),
  garbage: (turn: Turn) => end(turn, 200, '<html><body>502 Bad Gateway</body></html>'),
  internal: (turn: Turn) => end(turn, 200, answerTo(turn, { code: -32_603, message: 'Internal error' })),
  // The connection stays open, and nothing ever comes.
  silent: async () => {},
  /** It was done, and the answer does not say so. */
  mute: async ({ url, question }: Turn) => void (await forwarded(url, question)),
  cut: async (turn: Turn) => {
    const { text } = await forwarded(turn.url, turn.question);
    turn.response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, text.length / 2));
    turn.response.destroy();
  },
  known: async (turn: Turn) => {
    const { status, text } = await forwarded(turn.url, turn.question);
    const isSending = turn.question.includes('eth_sendRawTransaction');
    await end(turn, status, isSending ? answerTo(turn, { code: -32_000, message: 'already known' }) : text);
  },
} as const;

interface Turn {
  readonly url: string;
  readonly question: string;
  readonly response: ServerResponse;
}

/** A node that asks another one, and answers what that one says as long as it is well. */
export interface IllNode {
  readonly url: string;
  /** As many of its answers are wrong from now on, as a share. */
  fallIll: (share: number) => void;
  /** How often it had what. */
  readonly had: ReadonlyMap<string, number>;
  readonly stop: () => Promise<void>;
}

export async function startIllNode(behind: string, chance: () => number): Promise<IllNode> {
  const had = new Map<string, number>();
  const kinds = Object.entries(ILLNESSES);
  let share = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    let question = '';
    for await (const part of request.setEncoding('utf8')) question += String(part);
    const turn = { url: behind, question, response };
    const [name, illness] = kinds[Math.floor(chance() * kinds.length)] ?? [];
    if (name === undefined || illness === undefined || chance() >= share) {
      const { status, text } = await forwarded(behind, question);
      await end(turn, status, text);
      return;
    }
    had.set(name, (had.get(name) ?? 0) + 1);
    await illness(turn);
  };
  const server = createServer((request, response) => {
    // Whoever asked may be killed in the middle of it.
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    fallIll: (of) => void (share = of),
    had,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

interface Forwarded {
  readonly status: number;
  readonly text: string;
}

/** The one before, of all that anybody has asked. */
let before: Promise<unknown> = Promise.resolve();

/** One after the other: asked much at once, anvil locks itself up after a thousand transactions (foundry-rs/foundry#10452 is of the kind). */
function forwarded(url: string, question: string): Promise<Forwarded> {
  const answer = before.then(() => ask(url, question));
  before = answer.catch(() => {});
  return answer;
}

async function ask(url: string, question: string): Promise<Forwarded> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: question,
  });
  return { status: response.status, text: await response.text() };
}

function answerTo({ question }: Turn, error: { readonly code: number; readonly message: string }): string {
  const { id } = JSON.parse(question) as { readonly id: unknown };
  return JSON.stringify({ jsonrpc: '2.0', id, error });
}

async function end({ response }: Turn, status: number, text: string): Promise<void> {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}
