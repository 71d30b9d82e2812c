import worker from '../../src/worker.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

export { AccessTokenObject, PersonObject, SessionObject, VaultObject, WalletNonceObject } from '../../src/worker.ts';

/**
 * The coordinator, with queues that deliver every message three times: twice at once, and once more
 * when that is done.
 */
export default {
  ...worker,
  queue: async (batch, env) => {
    await Promise.all([worker.queue(batch, env), worker.queue(batch, env)]);
    await worker.queue(batch, env);
  },
} satisfies ExportedHandler<CoordinatorEnv>;
