import worker from '../../src/cosigner-worker.ts';
import type { CosignerEnv } from '#cosigner/api/object.ts';

/** A co-signer of the recording. Number 3 takes new shares, and none of them comes into use. */

export { CosignerObject } from '../../src/cosigner-worker.ts';

const fetch: typeof worker.fetch = async (request, env: CosignerEnv) => {
  const isStalled = env.NODE_INDEX === '3' && new URL(request.url).pathname.endsWith('/activate');
  return isStalled ? new Response('The Worker is not running.', { status: 503 }) : worker.fetch(request, env);
};

export default { fetch };
