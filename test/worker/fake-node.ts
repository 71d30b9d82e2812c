import { answerOfGenerousNode } from '../chains/generous-node.ts';

/**
 * RPC nodes of the test chains in this runtime, because a creation is refused on a chain without
 * one. A test with other nodes stubs `fetch`, and one without nodes passes other settings.
 */

/** vitest.config.ts names it in RPC_URLS, with the number of the chain as the path. */
const HOST = 'node-of-the-tests.test';

/** Returns the answer to a request to one of these RPC nodes, or null for another host. */
export async function answerOfNode(input: RequestInfo | URL, init?: RequestInit): Promise<Response | null> {
  const { host, pathname } = new URL(input instanceof Request ? input.url : input);
  if (host !== HOST) return null;
  const body = await new Request(input, init).text();
  return Response.json(answerOfGenerousNode(body, BigInt(pathname.slice(1))));
}

const elsewhere = globalThis.fetch;

// This code runs before each file, and files share a runtime.
const runtime = globalThis as typeof globalThis & { hasFakeNode?: true };
if (runtime.hasFakeNode === undefined) {
  globalThis.fetch = async (input, init) => (await answerOfNode(input, init)) ?? elsewhere(input, init);
}
runtime.hasFakeNode = true;
