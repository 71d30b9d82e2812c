import { nameOf } from '#devices/policy-succession.ts';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { HeldShare } from '#cosigner/key/share-store.ts';
import { receiptBytes } from '#cosigner/key/share-store.ts';
import type { ResharingRequest } from '#cosigner/key/resharing.ts';
import type { Round } from '#cosigner/session/protocol.ts';
import { signAsCosigner } from '#mpc/envelope.ts';
import { MAX_EPOCH_STEP } from '#mpc/keygen/resharing.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { present } from '../chains/evm/cast.ts';
import { dealingStatement } from './dealing.ts';
import type { HonestCosigner } from './cosigner.ts';
import type { World } from './world.ts';

/** Attacks on the shares of the key: on their epochs, and on the change from one to the next. */

const MAX_EPOCH = 0xffff_ffff;
const SCHEME = 'ecdsa-secp256k1';

type Held = ReadonlyMap<PartyIndex, readonly HeldShare[]>;

async function heldShares({ honest, group }: World): Promise<Held> {
  const held = new Map<PartyIndex, readonly HeldShare[]>();
  for (const [index, { cosignerKey }] of honest) held.set(index, await cosignerKey.held(group.keyId));
  return held;
}

/** Returns the newest share in use at any honest co-signer. */
function newestInUse(held: Held): HeldShare {
  const inUse = [...held.values()].flat().filter(({ isActive }) => isActive);
  return present(inUse.toSorted((a, b) => b.epoch - a.epoch)[0]);
}

function newestEpoch(held: Held): number {
  return Math.max(...[...held.values()].flat().map(({ epoch }) => epoch));
}

function resharing(
  { chance, group, honest }: World,
  {
    base,
    epoch,
    dealers,
  }: { readonly base: HeldShare; readonly epoch: number; readonly dealers: ResharingRequest['dealers'] },
): ResharingRequest {
  const { key } = group;
  const points = Object.entries(base.publicShares).map(
    ([index, point]) => [Number.parseInt(index, 10), point] as const,
  );
  const publicShares = new Map(
    group.parties.map((party) => [party, hexToBytes(present(points.find(([index]) => index === party))[1])]),
  );
  return {
    scheme: SCHEME,
    baseEpoch: base.epoch,
    epoch,
    dealers,
    publicKey: key.publicKey,
    publicShares,
    policy: nameOf(chance.of([...honest.values()]).inForce),
  };
}

/**
 * Has new shares dealt, for an honest epoch or for one that the coordinator chooses to use up the
 * epochs. It sometimes withholds the last messages from some co-signers, or from all.
 */
export async function refreshShares(world: World): Promise<void> {
  const { chance, group, honest, hostile, say } = world;
  const held = await heldShares(world);
  const newest = newestEpoch(held);
  const far = [newest + MAX_EPOCH_STEP, newest + MAX_EPOCH_STEP + 1, MAX_EPOCH - 1, MAX_EPOCH];
  const epoch = chance.percent(50) ? newest + 1 : chance.of([newest, ...far]);
  const rest = chance.some([...honest.keys()], group.threshold - hostile.size);
  const dealers = group.parties.filter((party) => hostile.has(party) || rest.includes(party));
  const request = resharing(world, { base: newestInUse(held), epoch, dealers });
  say(`deals shares of epoch ${epoch} from epoch ${request.baseEpoch}`);
  const plans = new Map<PartyIndex, { readonly context: Uint8Array; readonly round: Round }>();
  const sid = chance.bytes(32);
  for (const [index, { cosignerKey }] of honest) {
    const plan = await cosignerKey.prepareResharing(group.keyId, request);
    if (plan.ok) plans.set(index, { context: plan.value.context, round: plan.value.begin(sid) });
    else say(`  co-signer ${index} refuses: ${plan.refusal.code} ${plan.refusal.detail ?? ''}`);
  }
  // The session needs the openings of all participants.
  const [first] = plans.values();
  if (plans.size < honest.size || first === undefined) return;
  const confirmations = new Map<PartyIndex, Uint8Array>();
  const last = new Map<PartyIndex, Round>();
  const confirming = chance.percent(80) ? [...plans.keys()] : chance.some([...plans.keys()], chance.upTo(plans.size));
  for (const index of confirming) {
    const { step, next } = await present(plans.get(index)).round.run(new Map());
    if (step.type !== 'messages' || next === null) continue;
    confirmations.set(index, present(step.messages.get(index)));
    last.set(index, next);
  }
  const statement = dealingStatement(first.context, sid);
  for (const [index, { own }] of hostile) confirmations.set(index, await signAsCosigner(own, statement));
  const finishing = chance.percent(60) ? [...last.keys()] : chance.some([...last.keys()], chance.upTo(last.size + 1));
  for (const index of finishing) {
    const { step } = await present(last.get(index)).run(confirmations);
    say(`  co-signer ${index} ${step.type === 'result' ? 'stores its share' : 'ends the session'}`);
  }
  if (finishing.length === honest.size && chance.percent(60)) await activateShares(world);
}

/** Has some co-signers use a waiting share, with genuine receipts and forged ones. */
export async function activateShares(world: World): Promise<void> {
  const { chance, honest, group, say } = world;
  const held = await heldShares(world);
  const waiting = [...held.values()].flat().filter(({ isActive }) => !isActive);
  if (waiting.length === 0) return;
  const { epoch, statement } = chance.of(waiting);
  const receipts = await receiptsOf(world, held, { epoch, statement });
  for (const index of chance.some([...honest.keys()], 1 + chance.upTo(honest.size))) {
    const answer = await present(honest.get(index)).cosignerKey.activate(group.keyId, { epoch, receipts });
    say(`has co-signer ${index} use epoch ${epoch}: ${answer.ok ? 'done' : answer.refusal.code}`);
  }
}

/**
 * Returns receipts of all co-signers: those that honest ones gave, and those of hostile ones, also
 * in the names of others.
 */
async function receiptsOf(
  { group, hostile }: World,
  held: Held,
  { epoch, statement }: Pick<HeldShare, 'epoch' | 'statement'>,
): Promise<ReadonlyMap<PartyIndex, Uint8Array>> {
  const receipts = new Map<PartyIndex, Uint8Array>();
  const [liar] = hostile.values();
  for (const index of group.parties) {
    const own = held.get(index)?.find((one) => one.epoch === epoch && one.statement === statement);
    const genuine = own?.receipts[String(index)];
    const identity = hostile.get(index)?.own ?? liar?.own;
    if (genuine !== undefined) receipts.set(index, hexToBytes(genuine));
    else if (identity !== undefined) {
      const bytes = receiptBytes({ keyId: group.keyId, epoch, statement, cosigner: index });
      receipts.set(index, await signAsCosigner(identity, bytes));
    }
  }
  return receipts;
}

/**
 * Judges whether an honest coordinator can give the honest co-signers new shares after the liars
 * were replaced: it completes each change of shares that one of them has completed, and then deals
 * the next epoch. Refusals because of policies are no fault of the shares.
 */
export async function judgeShares(world: World): Promise<void> {
  const { group, honest, oracle } = world;
  for (const cosigner of honest.values()) await bringOn(world, cosigner);
  const held = await heldShares(world);
  const base = newestInUse(held);
  const lagging = [...held].filter(
    ([, shares]) => !shares.some(({ epoch, isActive }) => isActive && epoch === base.epoch),
  );
  for (const [index] of lagging) oracle.faults.push(`co-signer ${index} cannot use epoch ${base.epoch}`);
  const dealers = group.parties.filter((party) => honest.has(party)).slice(0, group.threshold);
  const others = group.parties.filter((party) => !dealers.includes(party));
  const all = [...dealers, ...others].slice(0, group.threshold).toSorted((a, b) => a - b);
  const request = resharing(world, { base, epoch: newestEpoch(held) + 1, dealers: all });
  for (const [index, { cosignerKey }] of honest) {
    const plan = await cosignerKey.prepareResharing(group.keyId, request);
    if (plan.ok || !SHARE_FAULTS.has(plan.refusal.code)) continue;
    const { code, detail } = plan.refusal;
    oracle.faults.push(`co-signer ${index} gets no share after epoch ${base.epoch}: ${code} ${detail ?? ''}`);
  }
}

const SHARE_FAULTS = new Set(['malformed', 'other-epoch', 'unknown-key']);

/** Has a co-signer use each newer share that another one uses, with the receipts of that one. */
async function bringOn(world: World, { index, cosignerKey }: HonestCosigner): Promise<void> {
  const { group } = world;
  const held = await heldShares(world);
  const shown = [...held].filter(([other]) => other !== index).flatMap(([, shares]) => shares);
  for (const { epoch, receipts } of shown.filter(({ isActive }) => isActive)) {
    const given = new Map(group.parties.map((party) => [party, hexToBytes(receipts[String(party)] ?? '')]));
    await cosignerKey.activate(group.keyId, { epoch, receipts: given });
  }
}
