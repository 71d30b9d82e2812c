import { utf8ToBytes } from '@noble/hashes/utils.js';
import { isAttested } from '#cosigner/policy/attestation.ts';
import type { Origin } from '#cosigner/key/dealing.ts';
import { prepareDealing } from '#cosigner/key/dealing.ts';
import { policiesBytes } from '#cosigner/key/key-generation.ts';
import type { KeyRegistration } from '#cosigner/key/key-registration.ts';
import type { CosignerStorage } from '#cosigner/storage.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { pinsMatch } from '#cosigner/policy/policy-statement.ts';
import { readChain, parsePolicies } from '#cosigner/policy/policy-chain.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { PairState } from '#cosigner/session/pair-store.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import type { ShareStore } from '#cosigner/key/share-store.ts';
import { newKeyFault } from '#cosigner/key/vault-policies.ts';
import { byPartyOf, bytesOf, fieldsOf, listOf, partyOf, schemeOf, wholeNumberOf } from '#cosigner/request-parser.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { partsOf } from '#mpc/keygen/resharing.ts';
import { minSigners, isAscending, type PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { equalBytes, taggedHash, uint32 } from '#mpc/transcript.ts';

/** What a coordinator asks for: who deals, and everything that a node without a share has to be told. Whoever has one holds it against it. */
export interface ResharingRequest {
  readonly scheme: KeyScheme;
  readonly threshold: number;
  /** Of the shares that are dealt from. */
  readonly baseEpoch: number;
  /** Of the new ones. */
  readonly epoch: number;
  readonly dealers: readonly PartyIndex[];
  readonly publicKey: Uint8Array;
  /** Of the base. */
  readonly publicShares: ReadonlyMap<PartyIndex, Uint8Array>;
  /**
   * Of the vault, every version so far, each with its mandate, as they were sent: how many of them are
   * read depends on what this co-signer holds.
   */
  readonly policies: unknown;
  /** Of the newest policy, by the co-signers that have adopted it. */
  readonly attestations: ReadonlyMap<PartyIndex, Uint8Array>;
}

export interface ResharingContext {
  readonly membership: CosignerSet;
  readonly storage: CosignerStorage;
  readonly shares: ShareStore;
  readonly registration: KeyRegistration;
  readonly pair: (peer: PartyIndex, known: string | null) => Promise<PairState>;
}

const MAX_EPOCH = 0xffff;
const SIGNATURE_BYTES = 64;

/**
 * New shares of a key for every node, dealt by as many holders as sign together: a refresh where all of them hold the key, and a repair for
 * those that do not. Nodes deal only from the shares that they use, and everybody takes part or nothing is done.
 *
 * Refuses, in order: `malformed` (epochs, dealers, a key or shares that do not fit its name), `other-epoch` (this node uses another one than
 * the request says, or has a newer share already), `unknown-key` (it is to deal and has nothing), `share-too-old`, `policy-behind`,
 * `policy-mismatch`, what `readChain` and `newKeyFault` refuse, and for ECDSA `not-paired`, `peer-banned` and `pair-too-old`: what a stolen share could be used with has to be new, too.
 */
export async function prepareResharing(
  context: ResharingContext,
  keyId: string,
  request: ResharingRequest,
): Promise<Result<SessionPlan, Refused>> {
  const { membership, storage, shares, registration } = context;
  const { own, peers, parties } = membership;
  const fault = requestFault(request, keyId, parties);
  if (fault !== null) return refused(refusal('malformed', fault));
  const share = await shareBefore(context, keyId, request);
  if (!share.ok) return share;
  const agreed = await policiesOf(context, request);
  if (!agreed.ok) return agreed;
  const stale = await pairFault(context, request);
  if (stale !== null) return refused(stale);
  const policies = agreed.value;
  const { scheme, threshold, baseEpoch, epoch, dealers, publicShares } = request;
  const origin: Origin = { keyId, epoch, dealers, publicShares, share: share.value };
  const store = async (dealt: KeyShare, statement: Uint8Array) => {
    if (shares.activeEpoch() === 0) {
      const keyRefusal = await registration.extendByNewKey(policies);
      if (keyRefusal !== null) return keyRefusal;
      // Before the share: one without a policy would sign nothing.
      for (const policy of policies.slice(storage.policies().length)) storage.putPolicy(policy);
      registration.mark(policies.length);
    }
    await shares.hold(dealt, { base: baseEpoch, statement });
    return null;
  };
  const purpose = 'reshare';
  const bound = resharingContext(keyId, { ...request, policies }, parties);
  return accepted(prepareDealing({ purpose, context: bound, scheme, own, peers, parties, threshold, origin, store }));
}

/** Everything that all nodes have to agree on. */
export function resharingContext(
  keyId: string,
  request: ResharingRequest & { readonly policies: readonly Policy[] },
  parties: readonly PartyIndex[],
): Uint8Array {
  const { scheme, threshold, baseEpoch, epoch, dealers, publicKey, publicShares, policies } = request;
  return taggedHash(
    'cosigner/reshare',
    utf8ToBytes(keyId),
    utf8ToBytes(scheme),
    Uint8Array.of(threshold),
    Uint8Array.from(parties),
    Uint8Array.from(dealers),
    uint32(baseEpoch),
    uint32(epoch),
    publicKey,
    ...parties.map((party) => publicShares.get(party) ?? new Uint8Array()),
    policiesBytes(policies),
  );
}

/** What of the request does not fit together, as every node sees it alike; else null. */
function requestFault(request: ResharingRequest, keyId: string, parties: readonly PartyIndex[]): string | null {
  const { scheme, threshold, baseEpoch, epoch, dealers, publicKey, publicShares, policies } = request;
  if (threshold < minSigners(parties.length) || threshold > parties.length) return 'threshold';
  if (baseEpoch < 1 || epoch <= baseEpoch || epoch > MAX_EPOCH) return 'epoch';
  if (!isAscending(dealers) || dealers.length !== threshold || !dealers.every((dealer) => parties.includes(dealer)))
    return 'dealers';
  if (keyIdOf(scheme, publicKey) !== keyId) return 'publicKey';
  if (!Array.isArray(policies) || policies.length === 0) return 'policies';
  return inGroupOf(scheme, (group) => {
    const parts = [...(partsOf(group, publicShares, dealers)?.values() ?? [])];
    const [first, ...rest] = parts;
    const key = group.parsePoint(publicKey);
    const sum = first === undefined ? null : rest.reduce((total, part) => total.add(part), first);
    return key !== null && sum?.equals(key) === true ? null : 'publicShares';
  });
}

/** What this node has of the base: its share, or null where it has none, or one from before. */
async function shareBefore(
  { shares, membership }: ResharingContext,
  keyId: string,
  request: ResharingRequest,
): Promise<Result<KeyShare | null, Refused>> {
  const { baseEpoch, epoch, dealers } = request;
  const deals = dealers.includes(membership.own.index);
  const active = shares.activeEpoch();
  if (active > baseEpoch || shares.newestEpoch() >= epoch) {
    return refused(refusal('other-epoch', String(shares.newestEpoch())));
  }
  if (active < baseEpoch) return deals ? refused(refusal('unknown-key')) : accepted(null);
  const current = await shares.current(keyId);
  if (!current.ok) return deals ? current : accepted(null);
  return isBaseOf(current.value, request) ? current : refused(refusal('malformed', 'publicShares'));
}

function isBaseOf(share: KeyShare, { scheme, threshold, publicKey, publicShares }: ResharingRequest): boolean {
  const sameShares = [...share.publicShares].every(([party, point]) =>
    equalBytes(point, publicShares.get(party) ?? new Uint8Array()),
  );
  const sameKey = share.scheme === scheme && share.threshold === threshold && equalBytes(share.publicKey, publicKey);
  return sameKey && sameShares && share.publicShares.size === publicShares.size;
}

/**
 * The policies that a resharing is made under. A co-signer that has policies takes part under these alone. One that joins adopts what as
 * many others as sign together attest: the coordinator alone must not choose its policies, or their devices would be the coordinator's.
 */
async function policiesOf(
  { membership, storage, shares, registration }: ResharingContext,
  { policies, attestations, threshold }: ResharingRequest,
): Promise<Result<readonly Policy[], Refused>> {
  const own = storage.policies();
  // A co-signer that was cut off while it joined has policies and uses no share: it joins once more.
  if (own.length > 0 && shares.activeEpoch() > 0) {
    const unregistered = await registration.complete(own);
    return unregistered === null ? sameAs(own, policies) : refused(unregistered);
  }
  const chain = await readChain(parsePolicies(policies), {
    nowMs: Date.now(),
    isJoining: true,
    isAttested: async (head) =>
      (await registration.isAdopted(head)) || isAttested(membership, head, { threshold, attestations }),
  });
  if (!chain.ok) return chain;
  const sent = chain.value.map(policyHashOf);
  if (!own.every((policy, i) => policyHashOf(policy) === sent[i])) return refused(refusal('policy-mismatch'));
  const [head] = chain.value.slice(-1);
  if (head === undefined) return refused(refusal('malformed', 'policies'));
  const fault = newKeyFault(await registration.vaultPolicies(head.vaultId), sent);
  if (fault !== null) return refused(fault);
  return pinsMatch(head, membership) ? chain : refused(refusal('policy-mismatch', 'cosigners'));
}

/** The policies of a list where they are those of this key. It reads no more than one beyond them. */
function sameAs(own: readonly Policy[], sent: unknown): Result<readonly Policy[], Refused> {
  let read = 0;
  for (const { policy } of parsePolicies(sent)) {
    const known = own[read];
    if (known === undefined) return refused(refusal('policy-behind', String(own.length)));
    if (policyHashOf(policy) !== policyHashOf(known)) return refused(refusal('policy-mismatch'));
    read += 1;
  }
  return read === own.length ? accepted(own) : refused(refusal('policy-mismatch'));
}

/** Who knows one side of a set-up learns a share from whoever uses the other: with the shares the set-ups change, too. */
async function pairFault(
  { membership, storage, pair }: ResharingContext,
  { scheme }: ResharingRequest,
): Promise<Refused | null> {
  if (scheme !== 'ecdsa-secp256k1') return null;
  for (const peer of membership.peers.keys()) {
    const { banned, setupId, madeAtMs } = await pair(peer, null);
    if (banned) return refusal('peer-banned', null, peer);
    if (setupId === null) return refusal('not-paired', null, peer);
    if (madeAtMs < (storage.sealed()?.madeAtMs ?? 0)) return refusal('pair-too-old', null, peer);
  }
  return null;
}

/** Points are checked where they are used. */
export function resharingRequestOf(value: unknown): ResharingRequest {
  const names = [
    'scheme',
    'threshold',
    'baseEpoch',
    'epoch',
    'dealers',
    'publicKey',
    'publicShares',
    'policies',
    'attestations',
  ];
  const fields = fieldsOf(value, names);
  const scheme = schemeOf(fields['scheme']);
  const pointBytes = inGroupOf(scheme, (group) => group.pointBytes);
  const pointOf = (point: unknown) => bytesOf(point, pointBytes);
  return {
    scheme,
    threshold: wholeNumberOf(fields['threshold']),
    baseEpoch: wholeNumberOf(fields['baseEpoch']),
    epoch: wholeNumberOf(fields['epoch']),
    dealers: listOf(fields['dealers'], 5, partyOf),
    publicKey: pointOf(fields['publicKey']),
    publicShares: byPartyOf(fields['publicShares'], pointOf),
    policies: fields['policies'],
    attestations: byPartyOf(fields['attestations'], (one) => bytesOf(one, SIGNATURE_BYTES)),
  };
}
