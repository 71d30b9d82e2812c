import { bytesToHex } from '@noble/hashes/utils.js';
import type { SessionPlan, Round } from '#cosigner/session/protocol.ts';
import { aborted, finished } from '#cosigner/session/protocol.ts';
import type { Pairs, SigningSessionRequest } from '#cosigner/session/signing.ts';
import { prepareSigning as production } from '#cosigner/session/signing.ts';

/**
 * The rounds of a signature without their mathematics, in place of `#cosigner/session/signing.ts`
 * (register.ts).
 *
 * The context is computed by the production code. Sessions hash it into the session id and into the
 * statement that each participant signs with its identity (src/cosigner/session/sessions.ts), so
 * participants whose contexts differ never exchange a message. The games say therefore: a signature
 * exists when all its signers have given their last message in sessions of one context. That the
 * protocols give no signature before, and that no session runs twice, is what the tests of test/mpc
 * and test/cosigner prove.
 */
export function prepareSigning(request: SigningSessionRequest, pairs: Pairs): SessionPlan {
  const preparation = production(request, pairs);
  return {
    ...preparation,
    begin: () => {
      if (request.commitTo() !== null) throw new Error('its row is taken');
      return lastRound(request);
    },
  };
}

/** Checks again whether the signature is still allowed, as the production rounds do. */
function lastRound({ share, messages, stillAllowed }: SigningSessionRequest): Round {
  return {
    run: async () => {
      if (!(await stillAllowed())) return aborted({ culprit: share.self, step: 'sign/not-allowed', ban: false });
      return finished({ publicKey: bytesToHex(share.publicKey), messages: messages.map(bytesToHex) });
    },
  };
}
