import type { UserId } from '#domain/id.ts';
import type { PersonObject } from '#objects/person/object.ts';

/** Returns the object of a user. Only this function constructs its name. */
export function personStub(env: { readonly PERSON: DurableObjectNamespace<PersonObject> }, id: UserId) {
  return env.PERSON.getByName(`person:${id}`);
}
