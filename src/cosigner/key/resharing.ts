import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Origin } from '#cosigner/key/dealing.ts';
import { prepareDealing } from '#cosigner/key/dealing.ts';
import type { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { pinsMatch, policyInForce } from '#cosigner/policy/policy-statement.ts';
import type { CosignerVault } from '#cosigner/policy/vault-policies.ts';
import type { PolicyName } from '#devices/policy-succession.ts';
import type { SessionPeers } from '#cosigner/session/session-peers.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import type { ShareStore } from '#cosigner/key/share-store.ts';
import {
  byPartyOf,
  bytesOf,
  fieldsOf,
  listOf,
  partyOf,
  policyNameOf,
  schemeOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { VaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { MAX_EPOCH_STEP, partsOf } from '#mpc/keygen/resharing.ts';
import { minSigners, isAscending, type PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { equalBytes, taggedHash, uint32 } from '#mpc/transcript.ts';

/**
 * The request of a coordinator: the dealers, and all data that a co-signer without a share needs. A
 * co-signer with a share compares the data with it.
 */
export interface ResharingRequest {
  readonly scheme: KeyScheme;
  /** The epoch of the shares that are dealt from. */
  readonly baseEpoch: number;
  /** The epoch of the new shares. */
  readonly epoch: number;
  readonly dealers: readonly PartyIndex[];
  readonly publicKey: Uint8Array;
  /** The public shares of the base epoch. */
  readonly publicShares: ReadonlyMap<PartyIndex, Uint8Array>;
  /** The policy in force in the vault of the key. */
  readonly policy: PolicyName;
}

export interface ResharingContext {
  readonly membership: CosignerSet;
  readonly storage: CosignerStorage;
  readonly shares: ShareStore;
  readonly vaultOf: (vaultId: VaultId) => CosignerVault;
  readonly peers: Pick<SessionPeers, 'state'>;
}

/** The epoch of a stored share has 32 bits. */
const MAX_EPOCH = 0xffff_ffff;

/**
 * Returns the plan that deals new shares of a key to every co-signer; as many holders deal as sign
 * together. It is a refresh when all co-signers hold the key, and a repair for those that do not.
 * Co-signers deal only from the shares in use, and all of them take part or nothing changes.
 *
 * Refuses, in order: `malformed` (epochs, dealers, a key or shares that do not match the key id),
 * `other-epoch` (this co-signer uses another epoch than the request states, or has a newer share),
 * `unknown-key` (it has to deal and has no share), `share-too-old`, `too-many-shares`, what
 * `policyInForce` refuses, `not-enough-attestations` (it joins, and too few co-signers attested the
 * policy), and for ECDSA `not-paired`, `peer-banned` and `pair-too-old`: set-ups that a stolen
 * share could be used with have to be new, too.
 */
export async function prepareResharing(
  context: ResharingContext,
  keyId: string,
  request: ResharingRequest,
): Promise<Result<SessionPlan, Refused>> {
  const { membership, storage, shares, vaultOf } = context;
  const { own, peers, parties } = membership;
  const fault = requestFault(request, keyId, parties);
  if (fault !== null) return refused(refusal('malformed', fault));
  const share = await shareBefore(context, keyId, request);
  if (!share.ok) return share;
  if (shares.isFull(Date.now())) return refused(refusal('too-many-shares'));
  const agreed = await agreedPolicy(context, request);
  if (!agreed.ok) return agreed;
  const threshold = agreed.value.signingThreshold;
  const isThreshold = request.dealers.length === threshold && (share.value?.threshold ?? threshold) === threshold;
  if (!isThreshold || threshold < minSigners(parties.length)) return refused(refusal('malformed', 'threshold'));
  const stale = await pairFault(context, request);
  if (stale !== null) return refused(stale);
  const { scheme, baseEpoch, epoch, dealers, publicShares, policy } = request;
  const confirming = () => storage.sealed.confirmEpoch(epoch);
  const origin: Origin = { keyId, epoch, dealers, publicShares, share: share.value, confirming };
  const store = async (dealt: KeyShare, statement: Uint8Array) => {
    const unpinned = await vaultOf(policy.vaultId).pin(policy);
    if (unpinned !== null) return unpinned;
    storage.putVaultId(policy.vaultId);
    await shares.hold(dealt, { base: baseEpoch, statement });
    return null;
  };
  const purpose = 'reshare';
  const bound = resharingContext(keyId, request, parties);
  return accepted(prepareDealing({ purpose, context: bound, scheme, own, peers, parties, threshold, origin, store }));
}

/** Returns the hash of all data that the co-signers have to agree on. */
export function resharingContext(keyId: string, request: ResharingRequest, parties: readonly PartyIndex[]): Uint8Array {
  const { scheme, baseEpoch, epoch, dealers, publicKey, publicShares, policy } = request;
  return taggedHash(
    'cosigner/reshare',
    utf8ToBytes(keyId),
    utf8ToBytes(scheme),
    Uint8Array.from(parties),
    Uint8Array.from(dealers),
    uint32(baseEpoch),
    uint32(epoch),
    publicKey,
    ...parties.map((party) => publicShares.get(party) ?? new Uint8Array()),
    hexToBytes(policy.hash),
  );
}

/**
 * Returns the inconsistent field of a request, or null. Every co-signer comes to the same result.
 */
function requestFault(request: ResharingRequest, keyId: string, parties: readonly PartyIndex[]): string | null {
  const { scheme, baseEpoch, epoch, dealers, publicKey, publicShares } = request;
  if (baseEpoch < 1 || epoch <= baseEpoch || epoch > MAX_EPOCH) return 'epoch';
  if (!isAscending(dealers) || !dealers.every((dealer) => parties.includes(dealer))) return 'dealers';
  if (keyIdOf(scheme, publicKey) !== keyId) return 'publicKey';
  return inGroupOf(scheme, (group) => {
    const parts = [...(partsOf(group, publicShares, dealers)?.values() ?? [])];
    const [first, ...rest] = parts;
    const key = group.parsePoint(publicKey);
    const sum = first === undefined ? null : rest.reduce((total, part) => total.add(part), first);
    return key !== null && sum?.equals(key) === true ? null : 'publicShares';
  });
}

/**
 * Returns the share of this co-signer in the base epoch, or null when it has none or an older one.
 *
 * The new epoch is at most 16 above the newest one that this co-signer confirmed. Others store
 * shares only with its confirmation, so no honest co-signer ever has a share that is too new for
 * another one. A co-signer that joins has confirmed nothing, and the dealers check the bound.
 */
async function shareBefore(
  { shares, membership, storage }: ResharingContext,
  keyId: string,
  request: ResharingRequest,
): Promise<Result<KeyShare | null, Refused>> {
  const { baseEpoch, epoch, dealers } = request;
  const deals = dealers.includes(membership.own.index);
  const active = shares.activeEpoch();
  const newest = shares.newestEpoch();
  const known = Math.max(newest, baseEpoch, storage.sealed.confirmedEpoch());
  if (active >= baseEpoch && epoch > known + MAX_EPOCH_STEP) return refused(refusal('malformed', 'epoch'));
  if (active > baseEpoch || newest >= epoch) {
    return refused(refusal('other-epoch', String(newest)));
  }
  if (active < baseEpoch) return deals ? refused(refusal('unknown-key')) : accepted(null);
  const current = await shares.current(keyId);
  if (!current.ok) return deals ? current : accepted(null);
  return isBaseOf(current.value, request) ? current : refused(refusal('malformed', 'publicShares'));
}

function isBaseOf(share: KeyShare, { scheme, publicKey, publicShares }: ResharingRequest): boolean {
  const sameShares = [...share.publicShares].every(([party, point]) =>
    equalBytes(point, publicShares.get(party) ?? new Uint8Array()),
  );
  const sameKey = share.scheme === scheme && equalBytes(share.publicKey, publicKey);
  return sameKey && sameShares && share.publicShares.size === publicShares.size;
}

/**
 * Refuses a resharing under another policy than the one in force here. A co-signer that joins the
 * key needs the policy attested (`adopt`): if the coordinator chose it, its devices could be the
 * devices of the coordinator.
 */
async function agreedPolicy(
  { membership, storage, shares, vaultOf }: ResharingContext,
  { policy }: ResharingRequest,
): Promise<Result<Policy, Refused>> {
  const own = storage.vaultId();
  if (own !== null && own !== policy.vaultId) return refused(refusal('malformed', 'vaultId'));
  const view = await vaultOf(policy.vaultId).policies(null);
  const inForce = policyInForce(view, policy);
  if (!inForce.ok) return inForce;
  if (shares.activeEpoch() > 0) return inForce;
  if (view?.isPinned !== true) return refused(refusal('not-enough-attestations'));
  return pinsMatch(inForce.value, membership) ? inForce : refused(refusal('policy-mismatch', 'cosigners'));
}

/**
 * Returns the refusal of the first peer without a usable set-up, or null. A party that knows one
 * side of a set-up learns a share from the co-signer that uses the other side, so the set-ups
 * change with the shares.
 */
async function pairFault(
  { membership, storage, peers }: ResharingContext,
  { scheme }: ResharingRequest,
): Promise<Refused | null> {
  if (scheme !== 'ecdsa-secp256k1') return null;
  for (const peer of membership.peers.keys()) {
    const { banned, setupId, madeAtMs } = await peers.state(peer, null);
    if (banned) return refusal('peer-banned', null, peer);
    if (setupId === null) return refusal('not-paired', null, peer);
    if (madeAtMs < (storage.sealed.inUse()?.madeAtMs ?? 0)) return refusal('pair-too-old', null, peer);
  }
  return null;
}

/** Parses a request. The points are checked where they are used. */
export function resharingRequestOf(value: unknown): ResharingRequest {
  const names = ['scheme', 'baseEpoch', 'epoch', 'dealers', 'publicKey', 'publicShares', 'policy'];
  const fields = fieldsOf(value, names);
  const scheme = schemeOf(fields['scheme']);
  const pointBytes = inGroupOf(scheme, (group) => group.pointBytes);
  const pointOf = (point: unknown) => bytesOf(point, pointBytes);
  return {
    scheme,
    baseEpoch: wholeNumberOf(fields['baseEpoch']),
    epoch: wholeNumberOf(fields['epoch']),
    dealers: listOf(fields['dealers'], 5, partyOf),
    publicKey: pointOf(fields['publicKey']),
    publicShares: byPartyOf(fields['publicShares'], pointOf),
    policy: policyNameOf(fields['policy']),
  };
}
