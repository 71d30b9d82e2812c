import { expect, test } from 'vitest';
import type { Answer, Person, Treasury } from '../scene.worker.ts';
import {
  anotherToken,
  asPerson,
  asService,
  call,
  changePolicy,
  coordinator,
  created,
  enter,
  foundTreasury,
  join,
  login,
} from '../scene.worker.ts';
import { deviceTreasury } from '../device-treasury.worker.ts';
import type { StopperOf, ThiefName } from './thieves.ts';
import { STOPS } from './thieves.ts';

/**
 * Plays each row of the table of thieves: what the thief does works before the stop, and the first
 * request after the answer of the stop is refused.
 */

const ORIGIN = { origin: 'http://conclave.test' };
const idOf = ({ token }: Person) => token.slice(12, 28);

/** One try of the thief, and how each party stops it. */
interface Scene<Stopper extends string> {
  readonly attempt: () => Promise<Answer>;
  readonly stops: Readonly<Record<Stopper, () => Promise<unknown>>>;
}

async function ok(answer: Promise<Answer>): Promise<Answer> {
  const given = await answer;
  expect([given.status < 300, given.body['code']]).toEqual([true, undefined]);
  return given;
}

/** The owner logs in and deletes a token. */
async function deleted(owner: Person, stolen: Person): Promise<void> {
  const headers = { cookie: await login(owner), ...ORIGIN };
  await ok(call(`DELETE /personal-access-token/${idOf(stolen)}`, { headers }));
}

async function disabledByAdmin(treasury: Treasury, person: Person): Promise<void> {
  const admin = await join(treasury, await enter('admin'), ['admin']);
  await ok(asPerson(admin, `POST /vault/${treasury.id}/member/${person.id}/disable`));
}

const disabledByOperator = (person: Person) => ok(asService(`POST /internal/user/${person.id}/disable`));

/** Two signers remove the third, in every role. */
const withoutAlice = (treasury: Treasury) =>
  changePolicy(treasury, {
    signers: [treasury.bob.id, treasury.carol.id],
    excludedMembers: [treasury.alice.id],
  });

const pages =
  (treasury: Treasury, { token }: Person) =>
  () =>
    call(`GET /vault/${treasury.id}/policy`, { token });

/** How each scene of the table begins. */
const SCENES: { readonly [T in ThiefName]: () => Promise<Scene<StopperOf<T>>> } = {
  token: async () => {
    const treasury = await foundTreasury();
    const stolen = await anotherToken(treasury.alice);
    const id = idOf(stolen);
    return {
      attempt: pages(treasury, stolen),
      stops: {
        owner: () => deleted(treasury.alice, stolen),
        admin: () => disabledByAdmin(treasury, treasury.alice),
        operator: () => ok(asService(`DELETE /internal/user/${treasury.alice.id}/credential/${id}`)),
        signers: () => withoutAlice(treasury),
      },
    };
  },
  signer: async () => {
    const treasury = await foundTreasury();
    const payment = String((await created(treasury)).body['id']);
    const stolen = await anotherToken(treasury.alice);
    return {
      attempt: () => call(`POST /transaction/${payment}/approve`, { token: stolen.token }),
      stops: {
        admin: () => disabledByAdmin(treasury, treasury.alice),
        operator: () => disabledByOperator(treasury.alice),
        signers: () => withoutAlice(treasury),
      },
    };
  },
  admin: async () => {
    const treasury = await foundTreasury();
    const admin = await join(treasury, await enter('admin'), ['admin']);
    return {
      attempt: async () => {
        const payment = String((await created(treasury)).body['id']);
        return call(`POST /transaction/${payment}/cancel`, { token: admin.token });
      },
      stops: {
        signers: () => changePolicy(treasury, { excludedMembers: [admin.id] }),
        operator: () => ok(asService(`DELETE /internal/vault/${treasury.id}/member/${admin.id}`)),
      },
    };
  },
  'service-key': async () => {
    const treasury = await foundTreasury();
    const planted = await join(treasury, await enter('planted'), ['viewer']);
    const reset = await ok(asService(`POST /internal/user/${treasury.alice.id}/credential-reset`));
    const resetId = String(reset.body['id']);
    let env = coordinator;
    // Each stop takes one of the powers, so each attempt uses all of them.
    const attempt = async () => {
      const key = { token: coordinator.TEST_SERVICE_KEY, env };
      const status = await call(`GET /internal/user/${treasury.alice.id}/credential-reset`, key);
      const isOpen = status.body['data']?.some(
        ({ id, state }: Record<string, unknown>) => id === resetId && state === 'PENDING',
      );
      if (isOpen !== true) return { ...status, status: 403 };
      return pages(treasury, planted)();
    };
    return {
      attempt,
      stops: {
        operator: async () => {
          env = { ...coordinator, SERVICE_KEY_HASHES: 'f'.repeat(64) };
        },
        member: () => ok(asPerson(treasury.victor, `POST /vault/${treasury.id}/credential-reset/${resetId}/cancel`)),
        signers: () => changePolicy(treasury, { excludedMembers: [planted.id] }),
      },
    };
  },
  quorum: async () => {
    const treasury = await foundTreasury();
    const stolen = [await anotherToken(treasury.alice), await anotherToken(treasury.bob)];
    return {
      attempt: async () => {
        const tries = await Promise.all(stolen.map((thief) => pages(treasury, thief)()));
        const [first, second] = tries;
        if (first === undefined || second === undefined) throw new Error('there are two tokens');
        return first.status < second.status ? first : second;
      },
      stops: {
        owners: async () => {
          for (const [i, owner] of [treasury.alice, treasury.bob].entries()) await deleted(owner, stolen[i] ?? owner);
        },
        operator: async () => {
          for (const owner of [treasury.alice, treasury.bob]) await disabledByOperator(owner);
        },
      },
    };
  },
};

test.each(STOPS)('the thief "%s" is stopped by the %s, from the answer on', async (thief, stopper) => {
  const scene: Scene<string> = await SCENES[thief]();
  expect((await scene.attempt()).status).toBeLessThan(300);
  await scene.stops[stopper]?.();
  expect((await scene.attempt()).status).toBeGreaterThanOrEqual(400);
});

test('one stolen token of a signer approves once in token mode, and nothing in device mode', async () => {
  const treasury = await foundTreasury();
  const payment = String((await created(treasury)).body['id']);
  const approve = async () =>
    (await call(`POST /transaction/${payment}/approve`, { token: (await anotherToken(treasury.alice)).token })).body;
  expect((await approve())['approvalsCounted']).toBe(1);
  expect((await approve())['approvalsCounted']).toBe(1);
  const { treasury: guarded } = await deviceTreasury();
  const other = String((await created(guarded)).body['id']);
  for (const act of ['approve', 'reject']) {
    const { token } = await anotherToken(guarded.alice);
    expect((await call(`POST /transaction/${other}/${act}`, { token })).status).toBe(403);
  }
});

test('a quorum of stolen tokens adopts a policy in token mode, and none in device mode', async () => {
  const adopted = async (treasury: Treasury) => {
    const line = `POST /vault/${treasury.id}/policy-change`;
    const { body } = await ok(asPerson(treasury.alice, line, { threshold: 1 }));
    const states: unknown[] = [];
    for (const person of [treasury.alice, treasury.bob]) {
      const { token } = await anotherToken(person);
      states.push((await call(`${line}/${body['id']}/approve`, { token })).body['state']);
    }
    return states.at(-1) === 'ADOPTED';
  };
  expect([await adopted(await foundTreasury()), await adopted((await deviceTreasury()).treasury)]).toEqual([
    true,
    false,
  ]);
});
