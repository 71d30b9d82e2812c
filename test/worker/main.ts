import { DurableObject } from 'cloudflare:workers';
import { app } from '#http/app.ts';
import { commonRefusals } from '#http/common-refusals.ts';
import { problemSchema, statusOf } from '#http/encode/problem.ts';
import { newSecret, newTokenId } from '#http/edge/credential-value.ts';
import { ROUTES } from '#http/routes.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { insertAccessToken } from '#store/access-tokens.ts';
import { insertSession } from '#store/sessions.ts';
import { findUser } from '#store/users.ts';
import { limitedHandlers } from '../limits/limited-worker.ts';

/**
 * Runs the coordinator without its queue consumers: these tests report the results of jobs
 * themselves, one at a time. Queues and jobs run in the tests of the whole stack.
 */
export {
  AccessTokenObject,
  PersonObject,
  SessionObject,
  VaultObject,
  WalletNonceObject,
} from '../limits/limited-coordinator.ts';

/** An object whose storage is a test's alone. */
export class EmptyObject extends DurableObject {}

const limited = limitedHandlers<CoordinatorEnv>({ fetch: app.fetch });

/**
 * Loads the schemas of the interface and the test scene for tests in the same isolate: an import
 * inside a test would load hundreds of modules one by one.
 */
const PROMISES = {
  app: limited as { readonly fetch: typeof app.fetch },
  ROUTES,
  commonRefusals,
  problemSchema,
  statusOf,
  newSecret,
  newTokenId,
  findUser,
  insertAccessToken,
  insertSession,
};
export type Promises = typeof PROMISES;
Object.assign(globalThis, { promises: PROMISES });

export default {
  ...limited,
  queue(): void {},
} satisfies ExportedHandler<CoordinatorEnv>;
