import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { LocalSolanaChain } from './chain.ts';
import { answerRpc } from './rpc.ts';

export interface SolanaNode {
  readonly url: string;
  readonly chain: LocalSolanaChain;
  readonly stop: () => Promise<void>;
}

interface SolanaOptions {
  /** A free port when absent. */
  readonly port?: number;
  /** The folder in which the chain is stored at the end, and from which it continues. */
  readonly folder?: string;
}

/** Starts a local chain behind the JSON-RPC interface of a Solana node. */
export async function startSolanaNode({ port = 0, folder }: SolanaOptions = {}): Promise<SolanaNode> {
  const chain = new LocalSolanaChain(folder ?? null);
  const server = createServer((request, response) => {
    // The caller may disconnect during the request. Then no response is needed.
    serve(chain, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  return {
    url: `http://127.0.0.1:${bound.port}`,
    chain,
    stop: () => {
      if (folder !== undefined) chain.save(folder);
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function serve(chain: LocalSolanaChain, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const answer = answerRpc(chain, await textOf(request));
  response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
}
