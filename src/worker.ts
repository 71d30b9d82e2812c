import { env as settings } from 'cloudflare:workers';
import { refuseForeign } from '#domain/operations/setting-fault.ts';
import { app } from '#http/app.ts';
import { fingerprintsIn, OF_COSIGNERS, settingFaults } from '#http/internal/setting-faults.ts';
import { consume } from '#jobs/consume.ts';
import { sweep } from '#jobs/sweep.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';

export { AccessTokenObject } from '#objects/token/access-token.ts';
export { PersonObject } from '#objects/person/object.ts';
export { SessionObject } from '#objects/token/session.ts';
export { VaultObject } from '#objects/vault/doors/object.ts';
export { WalletNonceObject } from '#objects/wallet-nonce/object.ts';

// An error at the start is refused by the platform at the deployment, before a request arrives.
refuseForeign(settings, OF_COSIGNERS);

export default {
  fetch: app.fetch,
  queue: consume,
  scheduled: (event, env) =>
    sweep(env, {
      nowMs: event.scheduledTime,
      settingFaults: settingFaults(env),
      fingerprints: fingerprintsIn(env),
    }),
} satisfies ExportedHandler<CoordinatorEnv>;
