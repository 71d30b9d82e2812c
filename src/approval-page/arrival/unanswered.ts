import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { PolicyViewRequest } from '#domain/access/approval-page-message.ts';
import type { PageRequest, ReceivedRequest } from '#approval-page/page-request.ts';

const KEY = 'conclave/unanswered/v1';

/**
 * Compares a request with the one that this window showed last and that has no answer. The
 * dashboard may load this page anew at any moment, so a click that the person meant for one request
 * could sign the next.
 *
 * The stored request stays until the person has answered, left, or acknowledged the other one. So a
 * second load of the other request still differs.
 */
export function comparedWithUnanswered(
  requested: ReceivedRequest,
  storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
): PageRequest {
  const { request } = requested;
  // A view decides nothing. It neither replaces a request nor ends one.
  if (request.type === 'conclave/approval/policy-view') {
    return { ...requested, replacesUnanswered: false, acknowledge: () => {} };
  }
  const own = hashOf(request);
  const before = storage.getItem(KEY);
  if (before === null) storage.setItem(KEY, own);
  const forget = () => storage.removeItem(KEY);
  return {
    ...requested,
    replacesUnanswered: before !== null && before !== own,
    acknowledge: () => storage.setItem(KEY, own),
    answer: (answer) => {
      // After an enrolment this window stays open, because the person compares the new key.
      if (requested.way === 'redirect' || answer.type === 'conclave/approval/answer') forget();
      requested.answer(answer);
    },
    leave: () => {
      forget();
      requested.leave();
    },
  };
}

type Decided = Exclude<ReceivedRequest['request'], PolicyViewRequest>;

/** Returns a hash of what the person decides about. Nonces, statements and remarks are not part. */
function hashOf(request: Decided): string {
  const subject =
    request.type === 'conclave/approval/request'
      ? [request.type, request.userId, request.canonical]
      : [request.type, request.userId, request.userName, ...request.credentialIds];
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(subject))));
}
