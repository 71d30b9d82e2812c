import type { ObjectRef } from '#cosigner/api/object-ref.ts';
import type { CosignerParts } from '#cosigner/api/parts.ts';
import { prepareKeyGeneration } from '#cosigner/key/key-generation.ts';
import { resharingRequestOf } from '#cosigner/key/resharing.ts';
import { sealedShare } from '#cosigner/key/share-store.ts';
import { pinsMatch, policyInForce } from '#cosigner/policy/policy-statement.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import {
  fieldsOf,
  listOf,
  Malformed,
  partyOf,
  policyNameOf,
  schemeOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';
import type { PairStore } from '#cosigner/session/pair-store.ts';
import { preparePairing } from '#cosigner/session/pairing.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import { signingRequestOf } from '#cosigner/session/signing-request.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { isAscending, minSigners, type PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';

/**
 * Parses the request of a session and returns its plan. Throws `Malformed`, or refuses what the
 * session refuses.
 */
export async function prepareSession(
  parts: CosignerParts,
  ref: ObjectRef,
  body: unknown,
): Promise<Result<SessionPlan, Refused>> {
  const { key } = parts;
  switch (ref.kind) {
    case 'vault':
      throw new Malformed('a vault has no sessions');
    case 'pair':
      return planOfPairing(parts, ref.peer, body);
    case 'keygen':
      return planOfKeyGeneration(parts, body);
    case 'key': {
      const { signers, rest } = amongSigners(parts, body, 'request');
      return signers.ok ? key.prepareSignature(ref.keyId, signers.value, signingRequestOf(rest)) : signers;
    }
    case 'proof': {
      const { signers, rest } = amongSigners(parts, body, 'epoch');
      return signers.ok ? key.prepareProof(ref.keyId, signers.value, wholeNumberOf(rest)) : signers;
    }
    case 'reshare':
      return key.prepareResharing(ref.keyId, resharingRequestOf(body));
  }
}

/** A new set-up does not lift a ban: only a replacement of the banned co-signer does. */
function planOfPairing(
  { membership, pair }: CosignerParts,
  peer: PartyIndex,
  body: unknown,
): Result<SessionPlan, Refused> {
  fieldsOf(body, []);
  if (!membership.peers.has(peer)) return refused(refusal('malformed', 'peer'));
  if (pair.isBanned(peer)) return refused(refusal('peer-banned', null, peer));
  const self = membership.own.index;
  const store = (setup: Parameters<PairStore['store']>[0]) => pair.store(setup, membership.keyEncryption);
  return accepted(preparePairing({ self, peer, store }));
}

/**
 * Refuses `malformed`, what `policyInForce` refuses, and `policy-mismatch` for a policy that
 * names other co-signers, which can be older than a rotation.
 */
async function planOfKeyGeneration(
  { membership, vaultOf, installInto }: CosignerParts,
  body: unknown,
): Promise<Result<SessionPlan, Refused>> {
  const fields = fieldsOf(body, ['scheme', 'policy']);
  const [scheme, named] = [schemeOf(fields['scheme']), policyNameOf(fields['policy'])];
  const { own, peers, parties } = membership;
  const vault = vaultOf(named.vaultId);
  const inForce = policyInForce(await vault.policies(null), named);
  if (!inForce.ok) return inForce;
  const policy = inForce.value;
  const threshold = policy.signingThreshold;
  if (threshold < minSigners(parties.length) || threshold > parties.length)
    return refused(refusal('malformed', 'signingThreshold'));
  if (!pinsMatch(policy, membership)) return refused(refusal('policy-mismatch', 'cosigners'));
  const store = async (share: KeyShare, statement: Uint8Array) => {
    const fault = await vault.pin(named);
    if (fault !== null) return fault;
    const stored = await sealedShare(membership, share, statement);
    await installInto(share.keyId, stored, named.vaultId);
    return null;
  };
  return accepted(prepareKeyGeneration({ scheme, own, peers, parties, policy, store }));
}

/**
 * Returns the signers, which have to include this co-signer, and the other field of the request.
 */
function amongSigners({ membership }: CosignerParts, body: unknown, field: string) {
  const fields = fieldsOf(body, ['signers', field]);
  const signers = listOf(fields['signers'], 5, partyOf);
  const pinned = signers.every((party) => membership.parties.includes(party));
  const isAGroup = isAscending(signers) && pinned && signers.includes(membership.own.index);
  return {
    signers: isAGroup ? accepted(signers) : refused(refusal('malformed', 'signers')),
    rest: fields[field],
  };
}
