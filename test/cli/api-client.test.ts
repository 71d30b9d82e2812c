import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { Client } from '#cli/api-client.ts';

test('the client closes an idle connection long before the runtime would close it', async () => {
  const sockets: Socket[] = [];
  // The server itself would keep the connection open for an hour.
  const server = createServer({ keepAliveTimeout: 3_600_000 }, (_request, response) => response.end('{}'));
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new Client(`http://127.0.0.1:${port}`, 'token');
  expect((await client.request('GET', '/')).status).toBe(200);
  const [socket] = sockets;
  if (socket === undefined) throw new Error('a client has connected');
  const answeredAt = performance.now();
  await once(socket, 'close');
  // The runtime would close an idle connection after five seconds.
  expect(performance.now() - answeredAt).toBeLessThan(4_000);
  await new Promise((resolve) => server.close(resolve));
});
