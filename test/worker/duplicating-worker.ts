import worker from '../../src/worker.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';

export { AccessTokenObject, PersonObject, SessionObject, VaultObject, WalletNonceObject } from '../../src/worker.ts';

/**
 * Runs the coordinator with queues that deliver every message three times: twice at once, and once
 * more after both.
 */
export default {
  ...worker,
  queue: async (batch, env) => {
    await Promise.all([worker.queue(batch, env), worker.queue(batch, env)]);
    await worker.queue(batch, env);
  },
} satisfies ExportedHandler<CoordinatorEnv>;
