import type { AccessTokenObject } from '#objects/token/access-token.ts';
import type { PersonObject } from '#objects/person/object.ts';
import type { SessionObject } from '#objects/token/session.ts';
import type { WalletNonceObject } from '#objects/wallet-nonce/object.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';

/** The configuration of the coordinator with the bindings of its Durable Objects. */
export interface CoordinatorEnv extends CoordinatorConfig {
  readonly VAULT: DurableObjectNamespace;
  readonly ACCESS_TOKEN: DurableObjectNamespace<AccessTokenObject>;
  readonly SESSION: DurableObjectNamespace<SessionObject>;
  readonly PERSON: DurableObjectNamespace<PersonObject>;
  readonly WALLET_NONCE: DurableObjectNamespace<WalletNonceObject>;
}
