import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { firstTransfer, shellVariables } from '#local/guide.ts';
import type { World } from './world.ts';
import { startWorld } from './world.ts';

/** Runs the commands of the README section "A first transfer" in a shell. */

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world.end();
});

test('the commands of the README make one payment, also when a user pastes them twice', async () => {
  const vault = await world.vault('readme');
  const recipient = await world.chain.account(6);
  const { alice, bob } = world.people();
  const { url, serviceKey } = world.stack();
  const variables = shellVariables({ url, serviceKey, people: [alice, bob], vault, recipient });
  const before = await world.chain.balance(recipient);
  const run = async () => {
    const env = { PATH: process.env['PATH'], ...Object.fromEntries(variables) };
    const { stdout, stderr } = await promisify(execFile)('sh', ['-eu', '-c', firstTransfer()], { env });
    expect(stderr).toBe('');
    return stdout.trim().split('\n');
  };
  const [id, challenge = '', first = '', second = '', ...states] = await run();
  expect(JSON.parse(challenge)).toMatchObject({ transactionId: id });
  expect(JSON.parse(first)).toMatchObject({ id, state: 'SUBMITTED', approvalsCounted: 1 });
  expect(JSON.parse(second)).toMatchObject({ id, state: 'SIGNING', approvalsCounted: 2 });
  expect(states).toEqual(['"state":"SUCCEEDED"']);
  const again = await run();
  expect([again[0], again.at(-1)]).toEqual([id, '"state":"SUCCEEDED"']);
  expect((await world.chain.balance(recipient)) - before).toBe(10n ** 15n);
});
