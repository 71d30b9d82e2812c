import { expect, test } from 'vitest';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import { PairStore } from '#cosigner/session/pair-store.ts';
import { NOON_MS } from '../../domain/cast.ts';
import { party } from '../../mpc/dealt-key.ts';
import { memorySql } from '../../objects/memory-sql.ts';

/**
 * Tests the permits of one pair of co-signers, over all keys. They are limited because each
 * permitted round may reveal one bit of 128 to a cheater.
 */

const MAX_ROUNDS = 16;
const MINUTE_MS = 60_000;
const mallory = party(2);

/** A new pair object whose peer has the given identity. */
function pairWith(identity: () => string) {
  return new PairStore(new CosignerStorage(memorySql()), identity);
}

function permits(pair: PairStore, count: number, nowMs: number): readonly (string | null)[] {
  return Array.from({ length: count }, () => pair.permit(mallory, nowMs));
}

function given(all: readonly (string | null)[]): readonly string[] {
  return all.filter((permit) => permit !== null);
}

test('at most sixteen rounds run with one peer, however many the coordinator requests at once', () => {
  const pair = pairWith(() => 'aa');
  const request = permits(pair, 40, NOON_MS);
  expect(request.slice(0, MAX_ROUNDS).every((permit) => permit !== null)).toBe(true);
  expect(given(request).length).toBe(MAX_ROUNDS);
  expect(new Set(given(request)).size).toBe(MAX_ROUNDS);
});

test('a released permit allows one more round, and releasing an unknown permit allows none', () => {
  const pair = pairWith(() => 'aa');
  const [first = ''] = given(permits(pair, MAX_ROUNDS, NOON_MS));
  pair.release(crypto.randomUUID());
  expect(pair.permit(mallory, NOON_MS)).toBeNull();
  pair.release(first);
  pair.release(first);
  expect(given(permits(pair, 3, NOON_MS)).length).toBe(1);
});

test('a permit that was not released expires after a minute, and not before', () => {
  const pair = pairWith(() => 'aa');
  permits(pair, MAX_ROUNDS, NOON_MS);
  expect(pair.permit(mallory, NOON_MS + MINUTE_MS)).toBeNull();
  expect(given(permits(pair, 40, NOON_MS + MINUTE_MS + 1)).length).toBe(MAX_ROUNDS);
});

test('a banned peer gets no permit, not even one that was released', () => {
  const pair = pairWith(() => 'aa');
  const [first = ''] = given(permits(pair, 1, NOON_MS));
  pair.ban(mallory, 'sign-2/ot-extension', NOON_MS);
  expect(pair.permit(mallory, NOON_MS)).toBeNull();
  pair.release(first);
  expect(pair.permit(mallory, NOON_MS + 10 * MINUTE_MS)).toBeNull();
});

test('a ban applies to an identity, so another machine in the place of the peer gets permits', () => {
  let identity = 'aa';
  const pair = pairWith(() => identity);
  pair.ban(mallory, 'sign-2/ot-extension', NOON_MS);
  identity = 'bb';
  expect(pair.permit(mallory, NOON_MS)).not.toBeNull();
  identity = 'aa';
  expect(pair.permit(mallory, NOON_MS)).toBeNull();
});
