/**
 * Attack: the thief of the service key of a status monitor creates a vault, requests and collects
 *   credentials, adds a member and exports recovery packages.
 * Attacker: operator
 * Co-signers: 0
 * Finding: P4
 * Defence: a service key has scopes, and each internal endpoint requires one of them.
 */
import { expect, test } from 'vitest';
import { asService, call, foundTreasury } from '../../http/scene.worker.ts';
import { withServiceKeys } from '../../http/service-keys.worker.ts';
import { outcome } from './thief.worker.ts';

const STOLEN = 'service_key_of_the_monitor';
const ofMonitor = withServiceKeys([{ key: STOLEN, scopes: ['status'] }]);

/** Returns what the thief does with the stolen key, each with a valid request. */
async function thefts() {
  const { id, alice, mallory } = await foundTreasury();
  const vault = {
    name: 'Treasury',
    members: [{ userId: alice.id, roles: ['signer'] }],
    threshold: 1,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
  };
  const person = { name: 'Eve', email: `eve.${id}@thief.example` };
  return [
    ['POST /internal/vault', vault],
    [`PUT /internal/vault/${id}/member/${mallory.id}`, { roles: ['admin'] }],
    [`POST /internal/vault/${id}/policy-change`, { threshold: 1 }],
    ['POST /internal/user', person],
    [`POST /internal/user/${alice.id}/credential-reset`],
    [`POST /internal/user/${alice.id}/disable`],
    [`POST /internal/vault/${id}/recovery`],
  ] as const;
}

test('a stolen key of a monitor reads the status and does nothing else', async () => {
  const monitor = { token: STOLEN, env: ofMonitor };
  expect((await call('GET /internal/status', monitor)).status).toBe(200);
  const requests = await thefts();
  const stolen = [];
  for (const [line, body] of requests) {
    const answer = await call(line, { ...monitor, ...(body === undefined ? {} : { body }) });
    stolen.push([line, ...outcome(answer)]);
  }
  expect(stolen).toEqual(requests.map(([line]) => [line, 403, 'insufficient-scope']));
  // The same requests of an operator are valid: only the scope stops the thief.
  for (const [line, body] of requests) {
    const { status } = await asService(line, body);
    expect([line, status < 300]).toEqual([line, true]);
  }
});
