import type { UserId } from '#domain/id.ts';
import type { PersonObject } from '#objects/person/object.ts';
import { userObjectName } from '#objects/token/user-budget.ts';

export type PersonStub = DurableObjectStub<PersonObject>;

/** Returns the object of a user. */
export function personStub(env: { readonly PERSON: DurableObjectNamespace<PersonObject> }, id: UserId): PersonStub {
  return env.PERSON.getByName(userObjectName(id));
}
