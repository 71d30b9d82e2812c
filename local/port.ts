import { createServer } from 'node:net';

/**
 * Gives a port of this machine that nobody listens on. A wanted one that is in use is an error here and now: whatever has it
 * might answer as if it were ours.
 *
 * @param wanted 0 for any
 */
export function availablePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (typeof address === 'object' && address !== null) resolve(address.port);
        else reject(new Error('no free port'));
      });
    });
  });
}
