import { expect, test } from 'vitest';
import type { Observation } from '#chains/observation.ts';
import { leavesEndUnknown } from '#chains/clients/observe-attempts.ts';
import type { UnknownEndReason } from '#domain/transaction/job.ts';
import { inclusion } from '../domain/cast.ts';

/** Covers the poll of all RPC nodes before a person ends a transaction of unknown outcome. */

const absent = (differences: object = {}): Observation => ({
  type: 'absent',
  inMempool: false,
  nonceTaken: false,
  ...differences,
});
const SEEN: Readonly<Record<string, Observation>> = {
  included: { type: 'included', inclusion: inclusion() },
  lapsed: { type: 'lapsed' },
  waiting: absent({ inMempool: true }),
  unused: absent(),
  disputed: absent({ isUseDisputed: true }),
  unexplained: absent({ isUnexplained: true }),
  unknownUtxo: absent({ isCoinUnknown: true }),
  taken: absent({ nonceTaken: true }),
};

test.each<[UnknownEndReason, readonly string[]]>([
  ['NONCE_USED_UNEXPLAINED', ['unexplained', 'taken']],
  ['COIN_UNKNOWN', ['unknownUtxo', 'taken']],
  ['NOT_SHOWN', ['unused', 'disputed', 'unexplained', 'unknownUtxo', 'taken']],
  ['REJECTED_BY_NODE', ['unused', 'disputed', 'unexplained', 'unknownUtxo', 'taken']],
])('with %s a person can end a transaction only while RPC nodes report %j', (reason, allowed) => {
  const found = Object.keys(SEEN).filter((name) => leavesEndUnknown(SEEN[name] ?? absent(), reason));
  expect(found).toEqual(allowed);
});
