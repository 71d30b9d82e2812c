import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { DealingRequest } from '#cosigner/key/dealing.ts';
import type { Round, SessionPlan } from '#cosigner/session/protocol.ts';
import { aborted, finished, sent } from '#cosigner/session/protocol.ts';
import { abortedBy } from '#mpc/abort.ts';
import { signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import { taggedHash } from '#mpc/transcript.ts';
import { present } from '../chains/evm/cast.ts';
import type { DealtKey } from '../mpc/dealt-key.ts';

/**
 * The rounds of a dealing without their mathematics, in place of `#cosigner/key/dealing.ts`
 * (register.ts). Every dealing of a key gives the same new shares, but has a statement of its own.
 * Its last two rounds are those of the production code: each participant confirms the statement,
 * and stores its share when all others have confirmed it.
 */
const RESHARED = new Map<string, DealtKey>();

/** Registers the shares that dealings of a key give. */
export function dealsAs(keyId: string, shares: DealtKey): void {
  RESHARED.set(keyId, shares);
}

/** Returns the statement that the participants of a dealing sign. */
export function dealingStatement(context: Uint8Array, sid: Uint8Array): Uint8Array<ArrayBuffer> {
  return concatBytes(utf8ToBytes('conclave/keygen-confirmation/v1'), taggedHash('games/dealing', context, sid));
}

export function prepareDealing(request: DealingRequest): SessionPlan {
  const { own, peers, parties, purpose, context } = request;
  const origin = present(request.origin);
  const confirmed = (statement: Uint8Array): Round => ({
    run: async (inbox) => {
      for (const [party, peer] of peers) {
        const signature = inbox.get(party) ?? new Uint8Array();
        const isConfirmed = await verifyAsCosigner(peer, statement, signature);
        if (!isConfirmed) return aborted(abortedBy(party, 'keygen-activate/confirmation').abort);
      }
      const { shares, publicKey, publicShares } = present(RESHARED.get(origin.keyId));
      const { scheme, threshold } = request;
      const { keyId, epoch } = origin;
      const secret = present(shares.get(own.index));
      const share = { scheme, keyId, epoch, threshold, publicKey, publicShares, self: own.index, secret };
      const fault = await request.store(share, statement);
      return fault === null
        ? finished({ publicKey: bytesToHex(publicKey) })
        : aborted(abortedBy(own.index, `keygen-activate/${fault.code}`).abort);
    },
  });
  return {
    participants: parties,
    purpose,
    context,
    opening: null,
    isRateLimited: true,
    begin: (sid) => ({
      run: async () => {
        const statement = dealingStatement(context, sid);
        origin.confirming();
        return sent(new Map([[own.index, await signAsCosigner(own, statement)]]), confirmed(statement));
      },
    }),
  };
}
