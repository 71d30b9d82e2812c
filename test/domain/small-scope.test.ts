import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { isAtRest } from '#domain/transaction/inclusion-steps.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import { MAX_IDENTICAL_REJECTIONS } from '#domain/transaction/rpc-rejection.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { isFinal, newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';
import { decide, nextPurpose } from '#domain/transaction/transition.ts';
import { EXPIRES_AT_MS, NOON_MS, policy, PREPARED, transactionIn, UNSPENT } from './cast.ts';
import type { Depth } from './small-scope-events.ts';
import {
  APPROVALS,
  REJECT,
  CANCEL,
  CANCEL_UNSIGNED,
  SPEED_UP,
  EXPIRE,
  DROP_APPROVALS,
  MISS,
  SETTLE,
  PREPARE,
  sign,
  sendUnknown,
  sendAccepted,
  sendUnderpriced,
  refuse,
  refuseAll,
  includedAt,
  REPORTS,
  PEOPLE,
  WITHOUT_CAROL,
  DEPTHS,
  valueOf,
} from './small-scope-events.ts';

/**
 * Explores everything that can happen to one payment of three signers, in every order: people
 * repeat themselves and change the policy; consumers run twice, late, or never again after a crash;
 * the network loses a response; and blocks are undone. The test checks every state that the
 * transition table can reach, and that from each of them every job then completes.
 */

/** At this time every scheduled resend is due. */
const LATEST_MS = EXPIRES_AT_MS + 60 * 60_000;
const MAX_ATTEMPTS = 2;

/** The record, and the true state around it. In each bit set, a bit is the number of an attempt. */
interface Position {
  readonly record: Transaction;
  readonly isLate: boolean;
  readonly hasCarol: boolean;
  /** The attempts whose bytes the network has now, and those that it has ever had. */
  readonly out: number;
  readonly everOut: number;
  /** The signed attempts that a consumer has read, and may still report. */
  readonly everSigned: number;
  readonly mined: { readonly attempt: number; readonly depth: Depth } | null;
  /** All blocks that the chain has ever shown. A bit is an attempt and a depth. */
  readonly seen: number;
  /** True if every RPC node refuses the signed bytes. */
  readonly isBad: boolean;
}

const has = (bits: number, attempt: number) => (bits & (1 << attempt)) !== 0;
const numberOf = (hash: string) => Number.parseInt(hash.slice(2), 10);

/** Returns one object for all records that behave alike, so that each step is decided once. */
const records = new Map<string, Transaction>();
const numbers = new Map<Transaction, number>();

function oneOfAlike(record: Transaction): Transaction {
  if (numbers.has(record)) return record;
  const name = nameOf(record);
  const known = records.get(name);
  if (known !== undefined) return known;
  records.set(name, record);
  numbers.set(record, numbers.size);
  return record;
}

/** The decisions so far: by time and policy, then by record, then by event. */
type Decisions = Map<TransactionEvent, Transaction>;
const decisions = new Map<string, Map<Transaction, Decisions>>();

function after(position: Position, event: TransactionEvent, atMs?: number): Position {
  const { record, isLate, hasCarol } = position;
  const nowMs = atMs ?? (isLate ? EXPIRES_AT_MS : NOON_MS);
  const alike = valueOf(decisions, `${nowMs} ${hasCarol}`, () => new Map<Transaction, Decisions>());
  const ofRecord = valueOf(alike, record, (): Decisions => new Map());
  const next = valueOf(ofRecord, event, () => {
    const context = {
      nowMs,
      policy: hasCarol ? policy : WITHOUT_CAROL,
      spentOf: UNSPENT,
    };
    const decided = decide(record, event, context);
    return decided.ok && decided.value.changed ? oneOfAlike(decided.value.transaction) : record;
  });
  return next === record ? position : { ...position, record: next };
}

/** Returns the positions after each action of a person, in any order and number. */
function byPeople(position: Position): Position[] {
  const { record, hasCarol } = position;
  const later: Position = { ...position, isLate: true };
  const alone = after({ ...position, hasCarol: false }, DROP_APPROVALS);
  return [
    ...(hasCarol ? APPROVALS : APPROVALS.slice(0, 2)).map((approval) => after(position, approval)),
    after(position, REJECT),
    after(position, CANCEL),
    after(position, SPEED_UP),
    ...(isFinal(record.state) ? [] : [later, after(later, EXPIRE), alone]),
  ];
}

/** Returns the positions after each report of a consumer, current or late. */
function byMachines(position: Position): Position[] {
  const { record, everOut, everSigned, isBad } = position;
  const attempts = record.attempts.map(({ number }) => number);
  const sent = attempts.flatMap((attempt) => {
    const others = (everOut & ~(1 << attempt)) !== 0;
    if (!has(everSigned, attempt)) return [];
    return [
      sendUnknown(attempt),
      ...(has(everOut, attempt) ? [sendAccepted(attempt)] : []),
      ...(others ? [sendUnderpriced(attempt)] : []),
      ...(isBad ? [refuse(attempt), refuseAll(attempt)] : []),
    ];
  });
  const reported = BLOCKS.filter((block) => has(position.seen, bitOf(block)));
  const events: TransactionEvent[] = [
    ...(attempts.length < MAX_ATTEMPTS ? [PREPARE.intent, PREPARE.cancellation] : []),
    ...REPORTS,
    ...attempts.map(sign),
    ...sent,
    ...reported.map(({ attempt, depth }) => includedAt[depth](attempt)),
  ];
  const known = events.map((event) => knowing(after(position, event)));
  return [...known, knowing(after(position, MISS, LATEST_MS))];
}

type Block = NonNullable<Position['mined']>;

/** A block with each attempt, at each depth. */
const BLOCKS: readonly Block[] = Array.from({ length: MAX_ATTEMPTS }, (_, i) => i + 1).flatMap((attempt) =>
  DEPTHS.map((depth) => ({ attempt, depth })),
);
const bitOf = ({ attempt, depth }: Block) => (attempt - 1) * DEPTHS.length + DEPTHS.indexOf(depth);

/** Records that a consumer may have read the signed attempts of the record. */
function knowing(position: Position): Position {
  const bits = position.record.attempts.reduce(
    (sum, { number, signed }) => (signed === null ? sum : sum | (1 << number)),
    0,
  );
  const everSigned = position.everSigned | bits;
  return everSigned === position.everSigned ? position : { ...position, everSigned };
}

/** Returns the positions after each step of the network and the chain. */
function byTheWorld(position: Position): Position[] {
  const { out, everOut, everSigned, mined, isBad } = position;
  const next: Position[] = [];
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const bit = 1 << attempt;
    if (has(everSigned, attempt) && !has(out, attempt) && !isBad) {
      next.push({ ...position, out: out | bit, everOut: everOut | bit });
    }
    if (has(out, attempt)) next.push({ ...position, out: out & ~bit });
    if (has(out, attempt) && mined === null) next.push(withBlock(position, { attempt, depth: 1 }));
  }
  if (mined?.depth === 1) next.push(withBlock(position, { ...mined, depth: 3 }));
  if (mined?.depth === 3) next.push(withBlock(position, { ...mined, depth: 'final' }));
  if (mined !== null && mined.depth !== 'final') next.push({ ...position, mined: null });
  return next;
}

function withBlock(position: Position, mined: Block): Position {
  return { ...position, mined, seen: position.seen | (1 << bitOf(mined)) };
}

/** Reports whether an attempt was refused exactly once. Only then does `times` matter. */
const isRefusedOnce = (sent: Attempt['sent']) => sent?.outcome === 'refused' && sent.times === 1;

/** Returns the number of refusals, capped where more refusals make no difference. */
const refusals = (attempt: Attempt) => Math.min(attempt.refusal?.times ?? 0, MAX_IDENTICAL_REJECTIONS);

const shape = (attempt: Attempt) => {
  const { number, purpose, signed, sent } = attempt;
  const bytes = `${number}${purpose[0]}${signed === null ? '-' : 's'}${refusals(attempt)}`;
  return `${bytes}${sent?.outcome ?? '-'}${isRefusedOnce(sent) ? 1 : ''}`;
};

function nameOf({
  state,
  stateReason,
  approvals,
  attempts,
  cancelling,
  givenUp,
  inclusion: found,
  nonceHeld,
}: Transaction): string {
  const approvers = PEOPLE.map(({ userId }) => approvals.some(({ actor }) => actor.userId === userId)).join();
  const where = found === null ? '' : `${numberOf(found.hash)} ${found.confirmations} ${found.finalized}`;
  const rests = isAtRest({ stateReason, attempts });
  return [state, approvers, attempts.map(shape).join(), cancelling, givenUp, where, nonceHeld, rests].join('|');
}

/** Returns the key of a position. From positions with equal keys the same can follow. */
function keyOf({ record, isLate, hasCarol, out, everOut, everSigned, mined, seen }: Position): number {
  const block = mined === null ? 0 : 1 + bitOf(mined);
  const parts = [
    [isLate ? 1 : 0, 2],
    [hasCarol ? 1 : 0, 2],
    ...[out, everOut, everSigned].map((bits) => [bits, 1 << (MAX_ATTEMPTS + 1)] as const),
    [block, BLOCKS.length + 1],
    [seen, 1 << BLOCKS.length],
  ] as const;
  return parts.reduce((key, [value, size]) => key * size + value, numbers.get(oneOfAlike(record)) ?? 0);
}

function purposeOf({ attempts }: Transaction, mined: Position['mined']): string | null {
  return attempts.find(({ number }) => number === mined?.attempt)?.purpose ?? null;
}

/** Returns the violated invariant, or null. */
function faultOf({ record, everOut, mined }: Position): string | null {
  const { state, approvals, attempts, inclusion: found } = record;
  const people = new Set(approvals.map(({ actor }) => actor.userId));
  if (people.size < approvals.length) return 'a person counts twice';
  if (attempts.length > 0 && people.size < 2) return 'too few wanted it, and there are bytes';
  if (attempts.some(({ number }, i) => i > 0 && number <= (attempts[i - 1]?.number ?? 0)))
    return 'attempts lose their order';
  if (attempts.some(({ nonce }) => nonce !== PREPARED.nonce)) return 'an attempt has another nonce';
  const isOver = state === 'REJECTED' || state === 'EXPIRED';
  if (isOver && everOut !== 0) return 'it is over, and its bytes are out';
  if (state === 'FAILED' && found === null && everOut !== 0) return 'it was given up, and its bytes are out';
  if (state === 'CANCELLED' && found === null && everOut !== 0) return 'it was cancelled, and its bytes are out';
  if (mined !== null && purposeOf(record, mined) === null) return 'what is mined is forgotten';
  if (state === 'SUCCEEDED' && attempts.find(({ signed }) => signed?.hash === found?.hash)?.purpose !== 'intent') {
    return 'it succeeded by something else';
  }
  if (!isFinal(state) && outstandingJob(record) === null) return 'no job is outstanding, and it is not over';
  return null;
}

/** Returns the position at the end when every participant does its work without faults. */
function ended(position: Position): Position {
  let now = position;
  for (let step = 0; step < 60; step++) {
    const job = outstandingJob(now.record);
    if (job === null) return now;
    now = knowing(worked(now, job));
  }
  return now;
}

function worked(position: Position, job: NonNullable<ReturnType<typeof outstandingJob>>): Position {
  const newest = newestAttempt(position.record);
  const number = newest?.number ?? 0;
  switch (job) {
    case 'expire':
      return after({ ...position, isLate: true }, EXPIRE);
    case 'sign': {
      const purpose = nextPurpose(position.record);
      const prepared = after(position, PREPARE[purpose]);
      const attempt = newestAttempt(prepared.record)?.number ?? 0;
      return after(prepared, sign(attempt));
    }
    case 'broadcast':
      if (position.isBad) return after(position, refuse(number));
      return after(
        { ...position, out: position.out | (1 << number), everOut: position.everOut | (1 << number) },
        sendAccepted(number),
      );
    case 'confirm': {
      if (position.mined !== null) {
        const { attempt } = position.mined;
        return after({ ...position, mined: { attempt, depth: 'final' } }, includedAt.final(attempt));
      }
      const waiting = [3, 2, 1, 4, 5, 6].find((attempt) => has(position.out, attempt));
      if (waiting === undefined)
        return isAtRest(position.record) ? offered(position) : after(position, MISS, LATEST_MS);
      const mined = { attempt: waiting, depth: 'final' as const };
      return after({ ...position, mined }, includedAt.final(waiting));
    }
    case 'settle':
      return after(position, SETTLE);
  }
}

/** Sends the newest signed bytes of a resting transaction again. The record does not change. */
function offered(position: Position): Position {
  const bit = 1 << (signedAttempts(position.record).at(-1)?.number ?? 0);
  return { ...position, out: position.out | bit, everOut: position.everOut | bit };
}

function endingFault(position: Position): string | null {
  // Bytes that every RPC node refuses and that may be out need a person's check.
  if (position.isBad && position.record.attempts.some(({ sent }) => sent !== null)) return null;
  const { record, mined } = ended(position);
  if (outstandingJob(record) !== null || !isFinal(record.state)) return `it never ends: ${record.state}`;
  const purpose = purposeOf(record, mined);
  if ((record.state === 'SUCCEEDED') !== (purpose === 'intent')) return `it ends as ${record.state}, mined: ${purpose}`;
  return record.nonceHeld ? 'its nonce is held for ever' : null;
}

/**
 * Returns a fault when the act of one person does not stop a payment that is not signed, while no
 * RPC node and no co-signer answers; null otherwise.
 */
function exitFault(position: Position): string | null {
  const { state, givenUp } = position.record;
  const act = (event: TransactionEvent) => after(position, event).record;
  if (state === 'DRAFT' || state === 'SUBMITTED') {
    return act(CANCEL).state === 'CANCELLED' && act(REJECT).state === 'REJECTED' ? null : 'a person cannot end it';
  }
  // A payment that was given up only uses its nonce.
  if (state !== 'SIGNING' || givenUp !== null) return null;
  const cancelled = after(position, CANCEL);
  const late = sign(newestAttempt(cancelled.record)?.number ?? 0);
  const isPaid = signedAttempts(after(cancelled, late).record).some(({ purpose }) => purpose === 'intent');
  if (isPaid) return 'it is signed after a person ended it';
  return after(cancelled, CANCEL_UNSIGNED).record.state === 'CANCELLED' ? null : 'a person cannot end it in SIGNING';
}

function explore(isBad: boolean): { readonly positions: number; readonly faults: readonly string[] } {
  const bare = { attempts: [], approvals: [], nonceHeld: false };
  const chain = { out: 0, everOut: 0, everSigned: 0, mined: null, seen: 0 };
  const start: Position = { record: transactionIn('SUBMITTED', bare), isLate: false, hasCarol: true, ...chain, isBad };
  const known = new Set([keyOf(start)]);
  const faults: string[] = [];
  let edge = [start];
  while (edge.length > 0 && faults.length === 0) {
    const further: Position[] = [];
    for (const position of edge) {
      for (const next of [...byPeople(position), ...byMachines(position), ...byTheWorld(position)]) {
        if (next === position) continue;
        const key = keyOf(next);
        if (known.has(key)) continue;
        known.add(key);
        further.push(next);
        const fault = faultOf(next) ?? exitFault(next) ?? endingFault(next);
        if (fault !== null) faults.push(`${fault}: ${nameOf(position.record)} to ${nameOf(next.record)}`);
      }
    }
    edge = further;
  }
  return { positions: known.size, faults };
}

test.each([
  ['whose bytes the network takes', false],
  ['whose bytes no node ever takes', true],
])(
  'every reachable state of a payment, %s, is consistent and leads to its correct end',
  (_, isBad) => {
    const { positions, faults } = explore(isBad);
    expect(faults.slice(0, 3)).toEqual([]);

    expect(positions).toBeGreaterThan(1_000);
  },
  600_000,
);
