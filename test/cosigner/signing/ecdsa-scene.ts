import { randomBytes } from '@noble/hashes/utils.js';
import type { SessionPlan, Round } from '#cosigner/session/protocol.ts';
import type { Pairs, SigningSessionRequest } from '#cosigner/session/signing.ts';
import { prepareSigning } from '#cosigner/session/signing.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import type { DealtKey } from '../../mpc/dealt-key.ts';
import { dealKey, dealPairs } from '../../mpc/dealt-key.ts';
import { HONEST, MALLORY } from '../session/sessions-scene.ts';

/** Signatures of the honest co-signer and of mallory under one dealt ECDSA key. */

const SIGNERS = [HONEST, MALLORY];

export interface EcdsaKey {
  readonly dealt: DealtKey;
  readonly pairs: ReadonlyMap<PartyIndex, Pairs>;
  readonly share: (self: PartyIndex) => KeyShare;
}

export function ecdsaKey(keyId = 'k'): EcdsaKey {
  const dealt = dealKey(2, SIGNERS);
  const { publicKey, publicShares } = dealt;
  const known = { scheme: 'ecdsa-secp256k1', keyId, epoch: 1, threshold: 2, publicKey, publicShares } as const;
  const share = (self: PartyIndex) => ({ ...known, self, secret: dealt.shares.get(self)! });
  return { dealt, pairs: dealPairs(SIGNERS), share };
}

/** Changes mallory's message, given the message and the number of its round. */
export type Lie = (message: Uint8Array, round: number) => void;

/**
 * Returns a function that plans one signature of a digest for each co-signer; mallory's messages
 * pass through `lie`.
 */
export function signatureOf(
  key: EcdsaKey,
  { digest = randomBytes(32), lie = () => {} }: { readonly digest?: Uint8Array; readonly lie?: Lie } = {},
): (self: PartyIndex) => SessionPlan {
  return (self) => {
    const request: SigningSessionRequest = {
      share: key.share(self),
      signers: SIGNERS,
      messages: [digest],
      occasion: new Uint8Array(),
      commitTo: () => null,
      stillAllowed: async () => true,
    };
    const preparation = prepareSigning(request, key.pairs.get(self)!);
    if (self === HONEST) return preparation;
    return { ...preparation, begin: (sid) => lying(preparation.begin(sid), { lie, round: 1 }) };
  };
}

function lying(honest: Round, { lie, round }: { readonly lie: Lie; readonly round: number }): Round {
  return {
    run: async (inbox) => {
      const { step, next } = await honest.run(inbox);
      if (step.type === 'messages') for (const message of step.messages.values()) lie(message, round);
      return { step, next: next === null ? null : lying(next, { lie, round: round + 1 }) };
    },
  };
}
