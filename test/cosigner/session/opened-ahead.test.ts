import { expect, test } from 'vitest';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import { refusal } from '#cosigner/refusal.ts';
import { accepted, refused } from '#domain/result.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { ecdsaKey, signatureOf } from '../signing/ecdsa-scene.ts';
import type { Pair } from './sessions-scene.ts';
import { begin, goOn, HONEST, MALLORY, nextFor, openBoth, startBoth, twoCosigners } from './sessions-scene.ts';

/** Tests sessions that co-signers open before they know the request. */

const key = ecdsaKey();

/** 32 bytes of an ephemeral key and 64 of a signature. */
const OPENING_BYTES = 96;

/** Returns a plan for another text than `signatureOf` signs. */
function otherSignature(self: PartyIndex): SessionPlan {
  return { ...signatureOf(key)(self), context: new Uint8Array(32).fill(9) };
}

/** Returns the number of sessions that the storage of the honest co-signer has. */
function rows({ honest }: Pair): number {
  // Reading a session creates the tables.
  honest.storage.advance(new Uint8Array(32), 2);
  return honest.sql.exec<{ count: number }>('SELECT count(*) AS count FROM session').one().count;
}

test('a session that was opened ahead signs, and its opening has the ephemeral key alone', async () => {
  const pair = await twoCosigners();
  const opened = await openBoth(pair, () => null);
  for (const bytes of opened.openings.values()) expect(bytes.length).toBe(OPENING_BYTES);
  expect(rows(pair)).toBe(0);
  const begun = await startBoth(pair, opened, signatureOf(key));
  await goOn(pair, begun);
  await goOn(pair, begun);
  expect([...begun.said.values()].map(({ result }) => Object.keys(result ?? {}))).toEqual([['partial'], ['partial']]);
});

test('an opening serves one start, whatever its request is', async () => {
  const pair = await twoCosigners();
  const opened = await openBoth(pair, () => null);
  const start = (prepare?: () => Promise<ReturnType<typeof accepted<SessionPlan>>>) =>
    pair.honest.sessions.start({ ...opened, receipts: new Map(), ...(prepare === undefined ? {} : { prepare }) });
  const codes = [
    await start(),
    await start(async () => accepted(signatureOf(key)(HONEST))),
    await start(async () => accepted(otherSignature(HONEST))),
  ].map((answer) => (answer.ok ? 'started' : answer.refusal.code));
  expect(codes).toEqual(['malformed', 'unknown-session', 'unknown-session']);
  expect(rows(pair)).toBe(0);
});

test('two simultaneous starts of one session begin one', async () => {
  const pair = await twoCosigners();
  const opened = await openBoth(pair, () => null);
  const prepare = async () => accepted(signatureOf(key)(HONEST));
  const start = () => pair.honest.sessions.start({ ...opened, receipts: new Map(), prepare });
  const answers = await Promise.all([start(), start(), start()]);
  expect(answers.filter(({ ok }) => ok).length).toBe(1);
  expect(rows(pair)).toBe(1);
});

test('a request that is refused at the start leaves nothing', async () => {
  const pair = await twoCosigners();
  const opened = await openBoth(pair, () => null);
  const prepare = async () => refused(refusal('not-enough-approvals'));
  const answer = await pair.honest.sessions.start({ ...opened, receipts: new Map(), prepare });
  expect(answer).toEqual(refused(refusal('not-enough-approvals')));
  expect(rows(pair)).toBe(0);
});

test('a session with a request takes no other request at its start', async () => {
  const pair = await twoCosigners();
  const opened = await openBoth(pair, signatureOf(key));
  const prepare = async () => accepted(otherSignature(HONEST));
  const answer = await pair.honest.sessions.start({ ...opened, receipts: new Map(), prepare });
  expect(answer).toEqual(refused(refusal('malformed', 'request')));
});

test('a protocol whose opening has signing nonces cannot be opened ahead', async () => {
  const pair = await twoCosigners();
  const opened = await openBoth(pair, () => null);
  const prepare = async () => accepted({ ...signatureOf(key)(HONEST), opening: new Uint8Array(66) });
  const answer = await pair.honest.sessions.start({ ...opened, receipts: new Map(), prepare });
  expect(answer).toEqual(refused(refusal('malformed', 'opening')));
  expect(rows(pair)).toBe(0);
});

test('an opening that a coordinator changes, swaps or takes from another kind of session is refused', async () => {
  const pair = await twoCosigners();
  const withRequest = await openBoth(pair, signatureOf(key));
  const another = await openBoth(pair, () => null);
  for (const change of [
    (bytes: Uint8Array) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte)),
    (bytes: Uint8Array) => bytes.map((byte, i) => (i === 40 ? byte ^ 1 : byte)),
    (bytes: Uint8Array) => bytes.subarray(1),
    () => another.openings.get(MALLORY) ?? new Uint8Array(),
    () => withRequest.openings.get(MALLORY) ?? new Uint8Array(),
  ]) {
    const opened = await openBoth(pair, () => null);
    const changed = change(opened.openings.get(MALLORY) ?? new Uint8Array());
    const openings = new Map([...opened.openings, [MALLORY, changed] as const]);
    const prepare = async () => accepted(signatureOf(key)(HONEST));
    const answer = await pair.honest.sessions.start({ ...opened, openings, receipts: new Map(), prepare });
    expect(answer).toEqual(refused(refusal('envelope-refused')));
  }
  expect(rows(pair)).toBe(0);
});

test('co-signers with different requests are in different sessions, and neither bans the other', async () => {
  const pair = await twoCosigners();
  const opened = await openBoth(pair, () => null);
  const begun = await startBoth(pair, opened, (self) =>
    self === HONEST ? signatureOf(key)(self) : otherSignature(self),
  );
  const answer = await pair.honest.sessions.round({ ...nextFor(pair.honest, begun) });
  expect(answer).toEqual(refused(refusal('envelope-refused')));
  expect(pair.honest.log).toEqual([]);
  // The session that has both co-signers on one request still signs.
  const next = await begin(pair, signatureOf(key));
  await goOn(pair, next);
});
