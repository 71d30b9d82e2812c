import { app } from '#http/app.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

/**
 * The coordinator without its consumers: these tests play the machines themselves, one report at a time. Queues and jobs run in
 * the tests of the whole stack.
 */
export { AccessTokenObject } from '#objects/access-token.ts';
export { VaultObject } from '#objects/vault.ts';
export { WalletNonceObject } from '#objects/wallet-nonce.ts';

export default {
  fetch: app.fetch,
  queue(): void {},
} satisfies ExportedHandler<CoordinatorEnv>;
