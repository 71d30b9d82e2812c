import { app } from '#http/app.ts';
import { consume } from '#jobs/consume.ts';
import { sweep } from '#jobs/sweep.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

export { AccessTokenObject } from '#objects/access-token.ts';
export { PersonObject } from '#objects/person.ts';
export { SessionObject } from '#objects/session.ts';
export { VaultObject } from '#objects/vault.ts';
export { WalletNonceObject } from '#objects/wallet-nonce.ts';

export default {
  fetch: app.fetch,
  queue: consume,
  scheduled: (event, env) => sweep(env, event.scheduledTime),
} satisfies ExportedHandler<CoordinatorEnv>;
