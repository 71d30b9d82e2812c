import { nameOf } from '#devices/policy-succession.ts';
import type { KeyRefresh, VaultKey } from '#domain/vault/vault.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { pairNextCosigners, pairSetups } from '#jobs/keys/pair-cosigners.ts';
import type { KeyFault } from '#jobs/keys/prove-key.ts';
import { signerGroups } from '#cosigner-client/signer-groups.ts';
import { withReason, groupName, proofFault } from '#jobs/keys/prove-key.ts';
import { relay } from '#jobs/signing/relay.ts';
import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import { policySource } from '#jobs/signing/policy-source.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';
import type { AgreedShares, HeldShares, HoldingCosigner } from '#cosigner-client/held-shares.ts';
import { agreedShares, sharesHeldBy } from '#cosigner-client/held-shares.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { MAX_EPOCH_STEP } from '#mpc/keygen/resharing.ts';
import { storeRefresh } from '#store/operations/key-exports.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

export interface RefreshRequest {
  readonly key: VaultKey;
  readonly policies: PolicySource;
}

function thresholdOf({ policies }: RefreshRequest): number {
  return policies.policy.signingThreshold;
}

/** The result of one step. */
type RefreshStep =
  | { readonly type: 'progress'; readonly refresh: KeyRefresh }
  /** These shares cannot be used for signing, and are dealt once more. */
  | { readonly type: 'set-aside'; readonly refresh: KeyRefresh; readonly reason: string }
  /** Every co-signer uses its new share. */
  | { readonly type: 'refreshed'; readonly epoch: number; readonly publicShares: VaultKey['publicShares'] };

/**
 * Takes the next step to new shares of a key for every co-signer, whether it has one or not. An
 * interrupted change is completed; the existing shares are recorded; two co-signers are paired
 * anew; the shares are dealt; one possible group of signers proves that it can sign with them; or
 * all co-signers are instructed to use them. The co-signers store everything except the proofs, so
 * an interrupted refresh continues from their state. Whichever step is the last, the key can sign
 * with the old shares, or with the new ones.
 */
export async function nextRefreshStep(
  cosigners: readonly CosignerClient[],
  request: RefreshRequest,
  refresh: KeyRefresh,
): Promise<Result<RefreshStep, KeyFault>> {
  const { holding, unreachable } = await holdingsOf(cosigners, request.key.keyId);
  const changed = await broughtOn(holding, request.key.keyId, refresh);
  if (!changed.ok) return changed;
  const brought = { ...refresh.brought, ...changed.value };
  if (Object.keys(changed.value).length > 0) return accepted({ type: 'progress', refresh: { ...refresh, brought } });
  if (unreachable !== null) return withReason('shares', unreachable);
  if (refresh.begun === null) return begun(holding, request, refresh);
  const after = refresh.begun.epoch;
  const ready = sharesEverywhere(holding, thresholdOf(request)).findLast(({ epoch }) => epoch > after);
  if (ready !== undefined) return proven(holding, ready, { request, refresh });
  if (request.key.scheme === 'ecdsa-secp256k1') {
    const paired = await pairNextCosigners(cosigners, new Set(refresh.begun.setups));
    if (!paired.ok) return withReason('pairing', paired.refusal);
    if (paired.value) return accepted({ type: 'progress', refresh });
  }
  const fault = await dealingFault(holding, request);
  return fault === null ? accepted({ type: 'progress', refresh }) : refused(fault);
}

/** Returns the shares of the reachable co-signers, and why another one is unreachable. */
async function holdingsOf(
  cosigners: readonly CosignerClient[],
  keyId: string,
): Promise<{ readonly holding: readonly HoldingCosigner[]; readonly unreachable: CosignerFault | null }> {
  const holding: HoldingCosigner[] = [];
  let unreachable: CosignerFault | null = null;
  for (const cosigner of cosigners) {
    const shares = await sharesHeldBy(cosigner, keyId);
    if (shares.ok) holding.push({ cosigner, shares: shares.value });
    else unreachable = shares.refusal;
  }
  return { holding, unreachable };
}

/**
 * Completes an interrupted change: instructs each co-signer with waiting shares to use them when
 * another one uses them already, with the other one's receipts. It requires no unanimity: a
 * co-signer that is lost during a change would otherwise leave the rest in two epochs. It trusts no
 * single co-signer: the receipts of one may be false, and then those of the next are tried.
 *
 * Returns the epochs of the co-signers that have changed, by their next report of their shares.
 * Refuses when one claims a change that this report does not confirm, or that it made before and
 * has reverted, and no other one has changed: it would go on for ever.
 */
async function broughtOn(
  holding: readonly HoldingCosigner[],
  keyId: string,
  { brought = {} }: KeyRefresh,
): Promise<Result<NonNullable<KeyRefresh['brought']>, KeyFault>> {
  const changed: Record<string, number> = {};
  let claim: KeyFault | null = null;
  for (const { cosigner, shares } of holding) {
    const own = activeEpoch(shares);
    const waiting = shares.filter(({ epoch, isActive }) => !isActive && epoch > own).map(({ epoch }) => epoch);
    // A co-signer lists the newest waiting shares, so it may have older ones.
    const mayHave = (epoch: number) => waiting.includes(epoch) || (epoch > own && epoch < (waiting[0] ?? 0));
    const others = holding.filter((other) => other.cosigner !== cosigner);
    const inUse = others.flatMap((other) => other.shares.findLast(({ isActive }) => isActive) ?? []);
    const shown = inUse.filter(({ epoch }) => mayHave(epoch));
    // A receipt that another co-signer stores may be from an identity that was rotated since. Its
    // owner's current signature counts then.
    const orders = shown
      .toSorted((x, y) => y.epoch - x.epoch)
      .flatMap(({ epoch, receipts }) => [
        { epoch, receipts },
        { epoch, receipts: { ...receipts, ...ownReceipts(holding, epoch) } },
      ]);
    for (const order of orders) {
      const answer = await cosigner.call(`key/${keyId}/activate`, order);
      if (!answer.ok) continue;
      const after = await sharesHeldBy(cosigner, keyId);
      const { epoch } = order;
      const isConfirmed = after.ok && activeEpoch(after.value) >= epoch;
      if (!isConfirmed) claim = claimed(cosigner, `claims to use epoch ${epoch}, and does not report it`);
      // The epoch of the others, which the co-signer cannot raise by itself.
      else if (epoch > (brought[cosigner.index] ?? 0)) changed[cosigner.index] = epoch;
      else claim = claimed(cosigner, `used epoch ${epoch} before, and reports an older one`);
      break;
    }
  }
  const hasChanged = Object.keys(changed).length > 0;
  return claim === null || hasChanged ? accepted(changed) : refused(claim);
}

function claimed({ index }: CosignerClient, claim: string): KeyFault {
  return { reason: `activation: node ${index} ${claim}`, isUseless: false };
}

/** Returns, for each co-signer with a share of an epoch, its own receipt. */
function ownReceipts(holding: readonly HoldingCosigner[], epoch: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    holding.flatMap(({ cosigner: { index }, shares }) => {
      const receipt = shares.find((one) => one.epoch === epoch)?.receipts[String(index)];
      return receipt === undefined ? [] : [[String(index), receipt] as const];
    }),
  );
}

/**
 * Records what must be replaced: all shares up to the newest dealing, in use or waiting, and the
 * set-ups of the pairs. Waiting shares of a refresh that was given up are as old as those in use. A
 * thief may have stolen both at once, so this refresh must not use them.
 */
async function begun(
  holding: readonly HoldingCosigner[],
  request: RefreshRequest,
  refresh: KeyRefresh,
): Promise<Result<RefreshStep, KeyFault>> {
  const inUse = sharesInUse(holding, thresholdOf(request));
  if (inUse === null) return refused(NO_SHARES_IN_USE);
  const isPaired = request.key.scheme === 'ecdsa-secp256k1';
  const setups = isPaired ? await pairSetups(holding.map(({ cosigner }) => cosigner)) : accepted([]);
  if (!setups.ok) return withReason('pairs', setups.refusal);
  const newest = agreedShares(holding, thresholdOf(request)).at(-1);
  return accepted({
    type: 'progress',
    refresh: { ...refresh, begun: { epoch: newest?.epoch ?? inUse.epoch, setups: setups.value } },
  });
}

const NO_SHARES_IN_USE: KeyFault = { reason: 'shares: too few co-signers agree on those in use', isUseless: false };

/**
 * Returns the newest shares that as many co-signers use as sign together, or null when there are
 * none.
 */
function sharesInUse(holding: readonly HoldingCosigner[], threshold: number): AgreedShares | null {
  return agreedShares(holding, threshold).findLast(({ users }) => users.length >= threshold) ?? null;
}

/** Returns 0 when no share is in use. */
function activeEpoch(shares: HeldShares): number {
  return shares.find(({ isActive }) => isActive)?.epoch ?? 0;
}

/** Returns the shares that every co-signer has from the same dealing, the newest last. */
function sharesEverywhere(holding: readonly HoldingCosigner[], threshold: number): readonly AgreedShares[] {
  return agreedShares(holding, threshold).filter(({ epoch, statement }) =>
    holding.every(({ shares }) => shares.some((one) => one.epoch === epoch && one.statement === statement)),
  );
}

async function proven(
  holding: readonly HoldingCosigner[],
  { epoch, publicShares, users }: AgreedShares,
  { request, refresh }: { readonly request: RefreshRequest; readonly refresh: KeyRefresh },
): Promise<Result<RefreshStep, KeyFault>> {
  const { key } = request;
  const threshold = thresholdOf(request);
  const cosigners = holding.map(({ cosigner }) => cosigner);
  const proofOf = (group: readonly CosignerClient[]) => `${epoch}:${groupName(group)}`;
  // As many co-signers as sign together have the receipts of all, after the proofs.
  const isInUse = users.length >= threshold;
  const unproven = isInUse
    ? []
    : signerGroups(cosigners, threshold).filter((group) => !refresh.provenBy.includes(proofOf(group)));
  const [signers] = unproven;
  if (signers === undefined) {
    // The record comes first: a refresh without it can be given up, and then no co-signer has been
    // instructed to use the new shares.
    if ((refresh.activating ?? 0) < epoch) {
      return accepted({ type: 'progress', refresh: { ...refresh, activating: epoch } });
    }
    const fault = await activationFault(holding, epoch, key.keyId);
    return fault === null ? accepted({ type: 'refreshed', epoch, publicShares }) : refused(fault);
  }
  const fault = await proofFault(signers, { ...key, publicShares, threshold, epoch });
  if (fault?.isUseless === true && refresh.begun !== null) {
    const again = { ...refresh, begun: { ...refresh.begun, epoch } };
    return accepted({ type: 'set-aside', refresh: again, reason: fault.reason });
  }
  if (fault !== null) return refused(fault);
  return accepted({
    type: 'progress',
    refresh: { ...refresh, provenBy: [...refresh.provenBy, proofOf(signers)] },
  });
}

/** Instructs every co-signer to use its share of an epoch; returns null when each does. */
async function activationFault(
  holding: readonly HoldingCosigner[],
  epoch: number,
  keyId: string,
): Promise<KeyFault | null> {
  const receipts = ownReceipts(holding, epoch);
  for (const { cosigner } of holding) {
    const answer = await cosigner.call(`key/${keyId}/activate`, { epoch, receipts });
    if (!answer.ok) return withReason('activation', answer.refusal).refusal;
  }
  return null;
}

/**
 * Returns the epochs to try in a dealing, in order. The new epoch has to be above every share that
 * an honest co-signer has, and within `MAX_EPOCH_STEP` of what each of them confirmed. So the first
 * one passes over what a single co-signer names beyond the reach of another. The second one is
 * above all: a co-signer that was lost in the last rounds confirmed more than it has.
 */
function nextEpochs(
  holding: readonly HoldingCosigner[],
  { epoch: baseEpoch }: AgreedShares,
  threshold: number,
): ReadonlySet<number> {
  const agreed = agreedShares(holding, threshold).at(-1)?.epoch ?? baseEpoch;
  const limit = Math.min(...holding.map((one) => Math.max(newestEpoch(one), baseEpoch))) + MAX_EPOCH_STEP;
  const named = holding.map(newestEpoch);
  return new Set([Math.max(agreed, ...named.filter((epoch) => epoch < limit)) + 1, Math.max(agreed, ...named) + 1]);
}

/** Deals for the first epoch, and for the next one when a co-signer has a newer share. */
async function firstAccepted(
  epochs: ReadonlySet<number>,
  deal: (epoch: number) => ReturnType<typeof relay>,
): ReturnType<typeof relay> {
  const [first = 0, ...others] = epochs;
  const dealt = await deal(first);
  const [second] = others;
  return dealt.ok || dealt.refusal.code !== 'other-epoch' || second === undefined ? dealt : deal(second);
}

/** Returns the epoch of the newest share that a co-signer names, or 0. */
function newestEpoch({ shares }: HoldingCosigner): number {
  return Math.max(0, ...shares.map(({ epoch }) => epoch));
}

/** Refusals of a co-signer that lacks policies, or attestations of those that it has. */
const NEEDS_POLICIES: ReadonlySet<string> = new Set(['policy-behind', 'not-enough-attestations']);

/** Refusals of a dealer about itself: others can deal instead, and it still receives a share. */
const CANNOT_DEAL: ReadonlySet<string> = new Set(['share-too-old', 'unknown-key']);

/**
 * Lets a threshold of co-signers with shares in use deal new ones to all. Returns null on success,
 * else the fault.
 */
async function dealingFault(holding: readonly HoldingCosigner[], request: RefreshRequest): Promise<KeyFault | null> {
  const { key, policies } = request;
  const threshold = thresholdOf(request);
  const inUse = sharesInUse(holding, threshold);
  if (inUse === null) return NO_SHARES_IN_USE;
  const { epoch: baseEpoch, publicShares, users } = inUse;
  const holders = holding.filter(({ cosigner }) => users.includes(cosigner.index));
  const cosigners = holding.map(({ cosigner }) => cosigner);
  const epochs = nextEpochs(holding, inUse, threshold);
  const excluded = new Set<number>();
  let fault: KeyFault | null = null;
  for (const dealers of signerGroups(holders, threshold)) {
    if (dealers.some(({ cosigner }) => excluded.has(cosigner.index))) continue;
    const body = (epoch: number) => ({
      scheme: key.scheme,
      baseEpoch,
      epoch,
      dealers: dealers.map(({ cosigner }) => cosigner.index),
      publicKey: key.publicKey,
      publicShares,
      policy: nameOf(policies.policy),
    });
    const deal = (epoch: number) =>
      relay({ cosigners, path: () => `reshare/${key.keyId}`, request: () => body(epoch) });
    const dealt = await firstAccepted(epochs, deal);
    if (dealt.ok) return null;
    const { cosigner, code } = dealt.refusal;
    fault = withReason('dealing', dealt.refusal).refusal;
    // The next step deals again, after a wait: a liar must not make a loop without one.
    if (NEEDS_POLICIES.has(code)) await bringPolicies(policies, { targets: cosigners, attesters: cosigners });
    if (!CANNOT_DEAL.has(code)) return fault;
    excluded.add(cosigner);
  }
  return fault ?? { reason: 'dealing: too few nodes have a share in use', isUseless: false };
}

/**
 * Takes the next step to new shares of a vault's key, and stores its result, as `generateVaultKey`
 * does.
 */
export async function refreshVaultKey(env: CoordinatorEnv, vault: VaultDoors): Promise<void> {
  const work = await vault.work({ type: 'refreshWork' });
  if (work === null) return;
  const { key, refresh, adoption } = work;
  const { keyId } = key;
  const { vaultId } = adoption.policy;
  const request = { key, policies: policySource(vault, adoption) };
  const step = await nextRefreshStep(cosignersOf(env), request, refresh);
  const reason = step.ok ? (step.value.type === 'set-aside' ? step.value.reason : null) : step.refusal.reason;
  if (reason !== null) {
    console.error(JSON.stringify({ event: 'key-refresh-delayed', vaultId, keyId, reason }));
  }
  if (!step.ok) return;
  // This comes first: after a crash between the two the job is repeated.
  if (step.value.type === 'refreshed') await storeRefresh(env.DB, { vaultId, keyId, nowMs: Date.now() });
  await vault.report({ type: 'reportRefresh', refresh, report: step.value });
}
