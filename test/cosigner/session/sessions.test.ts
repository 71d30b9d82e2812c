import { expect, test } from 'vitest';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { SessionPlan, Round } from '#cosigner/session/protocol.ts';
import { aborted, finished, sent } from '#cosigner/session/protocol.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { Begun, Pair } from './sessions-scene.ts';
import { begin, goOn, HONEST, MALLORY, nextFor, twoCosigners, writtenRound } from './sessions-scene.ts';

/**
 * Tests the guarantees of sessions for every protocol, with a protocol of three rounds that
 * computes nothing.
 */

interface Plot {
  /** Called when the honest co-signer computes a round. */
  readonly compute?: (round: number) => void;
  readonly isRateLimited?: boolean;
}

const LAST = 3;

function protocol({ compute = () => {}, isRateLimited = true }: Plot = {}): (self: PartyIndex) => SessionPlan {
  return (self) => {
    const peer = self === HONEST ? MALLORY : HONEST;
    const round = (number: number): Round => ({
      run: async () => {
        if (self === HONEST) compute(number);
        if (number === LAST) return finished({ partial: '00' });
        return sent(new Map([[peer, Uint8Array.of(number)]]), round(number + 1));
      },
    });
    const context = Uint8Array.of(1);
    const participants = [HONEST, MALLORY];
    return { participants, purpose: 'sign', context, opening: null, isRateLimited, begin: () => round(1) };
  };
}

/** Sends the honest co-signer its next round. Returns 'answered' or the code of its refusal. */
async function send({ honest }: Pair, begun: Begun): Promise<string> {
  const answer = await honest.sessions.round(nextFor(honest, begun));
  return answer.ok ? 'answered' : answer.refusal.code;
}

// ---- The storage ----

test('the round of a session is stored before that round is computed', async () => {
  const pair = await twoCosigners();
  const begun: { now: Begun | null } = { now: null };
  const written: (readonly [number, number])[] = [];
  const compute = (round: number) => {
    if (begun.now !== null) written.push([round, writtenRound(pair.honest, begun.now)]);
  };
  begun.now = await begin(pair, protocol({ compute }));
  expect(writtenRound(pair.honest, begun.now)).toBe(1);
  await goOn(pair, begun.now);
  await goOn(pair, begun.now);
  expect(written).toEqual([
    [2, 2],
    [3, 3],
  ]);
});

test.each([
  ['already at the round that is asked for', [2]],
  ['already past it', [2, 3]],
])('a session that is %s in storage computes nothing, whatever its memory says', async (_name, moved) => {
  const pair = await twoCosigners();
  const computed: number[] = [];
  const begun = await begin(pair, protocol({ compute: (round) => computed.push(round) }));
  const elsewhere = new CosignerStorage(pair.honest.sql);
  for (const round of moved) elsewhere.advance(begun.sid, round);
  expect(await send(pair, begun)).toBe('session-over');
  expect(await send(pair, begun)).toBe('session-over');
  expect(computed).toEqual([1]);
});

test('the rounds of a protocol without rate limit are stored as well', async () => {
  const pair = await twoCosigners();
  const begun = await begin(pair, protocol({ isRateLimited: false }));
  await goOn(pair, begun);
  expect(writtenRound(pair.honest, begun)).toBe(2);
  new CosignerStorage(pair.honest.sql).advance(begun.sid, 3);
  expect(await send(pair, begun)).toBe('session-over');
});

// ---- The permits ----

test('each round that takes messages has a permit, and releases it when its outcome is known', async () => {
  const pair = await twoCosigners();
  for (let i = 0; i < 20; i++) {
    const begun = await begin(pair, protocol());
    await goOn(pair, begun);
    await goOn(pair, begun);
  }
  expect(pair.honest.log).toEqual(Array.from({ length: 40 }, () => ['permit', 'release']).flat());
});

test('a round that aborts or fails releases its permit, after any ban', async () => {
  const pair = await twoCosigners();
  const ends: readonly (() => ReturnType<Round['run']>)[] = [
    () => Promise.reject(new Error('out of memory')),
    () => Promise.resolve(aborted({ culprit: MALLORY, step: 'sign-2/context', ban: false })),
    () => Promise.resolve(aborted({ culprit: MALLORY, step: 'sign-2/ot-extension', ban: true })),
  ];
  const outcomes: string[] = [];
  for (const end of ends) {
    const begun = await begin(pair, (self) => {
      const first: Round = {
        run: async () => sent(new Map([[self === HONEST ? MALLORY : HONEST, Uint8Array.of(1)]]), { run: end }),
      };
      return { ...protocol()(self), begin: () => first };
    });
    outcomes.push(await send(pair, begun).catch(String));
  }
  expect(outcomes).toEqual(['Error: out of memory', 'aborted', 'aborted']);
  expect(pair.honest.log).toEqual(['permit', 'release', 'permit', 'release', 'permit', 'ban', 'release']);
});

test('a ban is checked at every round, also of sessions that were open before it', async () => {
  const pair = await twoCosigners();
  const [early, late] = [await begin(pair, protocol()), await begin(pair, protocol())];
  await goOn(pair, late);
  pair.honest.pair.ban(MALLORY, 'sign-2/ot-extension', Date.now());
  expect([await send(pair, early), await send(pair, late)]).toEqual(['peer-banned', 'peer-banned']);
  expect([await send(pair, early), await send(pair, late)]).toEqual(['session-over', 'session-over']);
  // A protocol in which no answer reveals a secret needs no permit.
  expect(await send(pair, await begin(pair, protocol({ isRateLimited: false })))).toBe('answered');
});

test('an envelope that cannot be decrypted takes no permit', async () => {
  const pair = await twoCosigners();
  const begun = await begin(pair, protocol());
  const request = nextFor(pair.honest, begun);
  for (const bytes of [new Uint8Array(), ...[...request.envelopes.values()].map((one) => one.toReversed())]) {
    const answer = await pair.honest.sessions.round({ ...request, envelopes: new Map([[MALLORY, bytes]]) });
    expect(answer.ok ? '' : answer.refusal.code).toBe('envelope-refused');
  }
  expect(pair.honest.log).toEqual([]);
  expect(await send(pair, begun)).toBe('answered');
});

test('a session that is not completed within ten minutes ends, and its keys leave the memory', async () => {
  const pair = await twoCosigners();
  const begun = await begin(pair, protocol());
  const { sessions } = pair.honest;
  const TEN_MINUTES_MS = 10 * 60_000;
  sessions.endOld(Date.now() + TEN_MINUTES_MS - 60_000);
  await goOn(pair, begun);
  sessions.endOld(Date.now() + TEN_MINUTES_MS);
  expect(await send(pair, begun)).toBe('session-over');
  await goOn(pair, await begin(pair, protocol()));
});
