import type { UserId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

/** The object of a person. Its name is made here alone. */
export function personStub(env: CoordinatorEnv, id: UserId) {
  return env.PERSON.getByName(`person:${id}`);
}
