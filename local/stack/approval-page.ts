import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { APPROVAL_PAGE, headersIn } from '../../cli/approval-page-release.ts';

/** The approval page on an origin of its own, as a static host serves it. */
export interface ApprovalPageServer {
  readonly origin: string;
  readonly stop: () => Promise<void>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
};
const FILES = ['index.html', 'approval-page.js', 'approval-page.css'];

/**
 * Serves the built page at `http://localhost:PORT`, or at a name below `localhost`: browsers allow
 * passkeys over http only there. Throws when it is not built, or the port is in use.
 *
 * @param allowedOrigins of the dashboards that it serves; a function, since a dashboard can start
 * later
 */
export async function serveApprovalPage(
  allowedOrigins: () => readonly string[],
  { port = 0, host = 'localhost' }: { readonly port?: number; readonly host?: string } = {},
): Promise<ApprovalPageServer> {
  const files = new Map(FILES.map((name) => [`/${name}`, readFileSync(join(APPROVAL_PAGE, name))]));
  const headers = headersIn(readFileSync(join(APPROVAL_PAGE, '_headers'), 'utf8'));
  const send = (answer: ServerResponse, path: string) => {
    const body = path === '/allowed-origins.json' ? JSON.stringify(allowedOrigins()) : files.get(path);
    const type = TYPES[extname(path)] ?? 'text/plain';
    answer.writeHead(body === undefined ? 404 : 200, { ...headers, 'Content-Type': type });
    answer.end(body);
  };
  const server = createServer((request, answer) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    send(answer, pathname === '/' ? '/index.html' : pathname);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, 'localhost', resolve);
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    origin: `http://${host}:${taken}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
