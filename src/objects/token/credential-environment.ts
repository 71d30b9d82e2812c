import type { CoordinatorConfig } from '#objects/configuration.ts';

/** The configuration with the objects that the object of a credential calls. */
export interface CredentialEnv extends CoordinatorConfig {
  readonly PERSON: DurableObjectNamespace;
}
