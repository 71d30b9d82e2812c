import { app } from '#http/app.ts';
import { commonRefusals } from '#http/encode/common-refusals.ts';
import { problemSchema, statusOf } from '#http/encode/problem.ts';
import { ROUTES } from '#http/routes.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

/**
 * The coordinator without its consumers: these tests play the machines themselves, one report at a time. Queues and jobs run in
 * the tests of the whole stack.
 */
export { AccessTokenObject } from '#objects/token/access-token.ts';
export { PersonObject } from '#objects/person/object.ts';
export { SessionObject } from '#objects/token/session.ts';
export { VaultObject } from '#objects/vault/object.ts';
export { WalletNonceObject } from '#objects/wallet-nonce/object.ts';

/** What the interface promises, for the tests in the same isolate: importing it there would load all of its modules one by one. */
const PROMISES = { app, ROUTES, commonRefusals, problemSchema, statusOf };
export type Promises = typeof PROMISES;
Object.assign(globalThis, { promises: PROMISES });

export default {
  fetch: app.fetch,
  queue(): void {},
} satisfies ExportedHandler<CoordinatorEnv>;
