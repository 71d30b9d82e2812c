import type { CoordinatorConfig } from '#objects/configuration.ts';
import type { AccessTokenObject } from '#objects/token/access-token.ts';
import type { SessionObject } from '#objects/token/session.ts';

/** The configuration with the objects that the object of a person calls. */
export interface PersonEnv extends CoordinatorConfig {
  readonly ACCESS_TOKEN: DurableObjectNamespace<AccessTokenObject>;
  readonly SESSION: DurableObjectNamespace<SessionObject>;
  readonly VAULT: DurableObjectNamespace;
}
