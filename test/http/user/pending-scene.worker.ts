import { expect } from 'vitest';
import type { Person, Treasury } from '../scene.worker.ts';
import { anotherToken, call } from '../scene.worker.ts';

/** Completes the read model of a vault, which selects the vaults in which something is pending. */
export async function projected({ id, victor }: Treasury): Promise<void> {
  const { token } = await anotherToken(victor);
  expect((await call(`GET /vault/${id}/transactions`, { token })).status).toBe(200);
}

/** Sends the decision of a person. */
export async function decide(person: Person, line: string): Promise<void> {
  const { token } = await anotherToken(person);
  expect((await call(`POST ${line}`, { token })).status).toBe(200);
}
