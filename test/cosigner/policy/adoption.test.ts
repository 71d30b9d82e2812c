import { beforeEach, describe, expect, test } from 'vitest';
import { hexToBytes } from '@noble/hashes/utils.js';
import { adopt, attest } from '#cosigner/policy/adoption.ts';
import { attestationKeysOf } from '#cosigner/policy/attestation.ts';
import { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { encodePolicy } from '#cosigner-client/bring-policies.ts';
import { nameOf, policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { groupOf } from '../../adversary/cosigner.ts';
import type { Signs } from '../../attacks/policy-scene.ts';
import { changeTo, LAPTOP, NEW_LAPTOP, NEW_PHONE, PHONE, revoked } from '../../attacks/policy-scene.ts';
import { present } from '../../chains/evm/cast.ts';
import { memorySql } from '../../objects/memory-sql.ts';
import { byDevice, founded } from './device-scene.ts';

/** Tests how four co-signers, of which three sign together, agree on the policies of a vault. */

const HOUR_MS = 3_600_000;
const OLD: readonly Signs[] = [LAPTOP, PHONE];
const NEW: readonly Signs[] = [NEW_LAPTOP, NEW_PHONE];
const first: Policy = { ...byDevice, signingThreshold: 3 };
const successor = (before: Policy, change: Partial<Policy> = {}): Policy => {
  return { ...before, version: before.version + 1, previousHash: policyHashOf(before), ...change };
};
const [second, other] = [successor(first), successor(first, { threshold: 3 })];

type Stage = 'chosen' | 'adopted';
type Attestations = Readonly<Record<Stage, ReadonlyMap<PartyIndex, Uint8Array>>>;

/** One of the four co-signers. */
class Cosigner {
  readonly vault = new VaultPolicies(memorySql());
  nowMs = Date.now();
  /** How far the clock moves with each look at it. */
  stepMs = 0;
  readonly #index: PartyIndex;

  constructor(index: PartyIndex) {
    this.#index = index;
  }

  async #context() {
    const membership = present((await groupOf(3, 4)).memberships.get(this.#index));
    const keys = attestationKeysOf(membership);
    return { membership, keys, vaultId: first.vaultId, vault: this.vault, now: () => (this.nowMs += this.stepMs) };
  }

  /** Returns the stage of the attestation with its bytes, or the code and detail of the refusal. */
  async attest(...policies: readonly AdoptedPolicy[]): Promise<readonly [Stage, Uint8Array] | string> {
    const head = nameOf(present(policies.at(-1)).policy);
    const answer = await attest(await this.#context(), head, policies.map(encodePolicy));
    if (!answer.ok) return [answer.refusal.code, answer.refusal.detail].join(' ').trim();
    const { stage, attestation } = answer.value;
    return stage === 'none' || attestation === null ? 'none' : [stage, hexToBytes(attestation)];
  }

  /** Returns the version in force, or the code and detail of the refusal. */
  async adopt(policies: readonly AdoptedPolicy[], attestations: Attestations): Promise<number | string> {
    const answer = await adopt(await this.#context(), policies.map(encodePolicy), attestations);
    return answer.ok ? answer.value.version : [answer.refusal.code, answer.refusal.detail].join(' ').trim();
  }
}

let all: readonly Cosigner[];
beforeEach(async () => {
  const { parties } = await groupOf(3, 4);
  all = parties.map((index) => new Cosigner(index));
  for (const { vault } of all) {
    vault.adopt([first]);
    expect(vault.pin(nameOf(first))).toBeNull();
  }
});

const some = (...numbers: readonly number[]) => numbers.map((number) => present(all[number - 1]));
const NONE: Attestations = { chosen: new Map(), adopted: new Map() };

/** Collects the attestations of co-signers, and leaves out refusals. */
async function collected(numbers: readonly number[], ...policies: readonly AdoptedPolicy[]): Promise<Attestations> {
  const { parties } = await groupOf(3, 4);
  const maps = { chosen: new Map<PartyIndex, Uint8Array>(), adopted: new Map<PartyIndex, Uint8Array>() };
  for (const number of numbers) {
    const given = await present(all[number - 1]).attest(...policies);
    if (typeof given !== 'string') maps[given[0]].set(present(parties[number - 1]), given[1]);
  }
  return maps;
}

/** Sends policies to co-signers. Returns their answers. */
const sent = (numbers: readonly number[], policies: readonly AdoptedPolicy[], attestations: Attestations) =>
  Promise.all(some(...numbers).map((cosigner) => cosigner.adopt(policies, attestations)));

const EVERYBODY = [1, 2, 3, 4];

describe('one policy of each version', () => {
  test('a co-signer adopts on the attestations of three, its own included', async () => {
    const change = changeTo(second, OLD);
    expect(await sent([1], [change], NONE)).toEqual(['not-enough-attestations 2']);
    expect(await sent([1], [change], await collected([2], change))).toEqual(['not-enough-attestations 2']);
    expect(await sent([1], [change], await collected([2, 3], change))).toEqual([2]);
    expect(await sent([4], [change], await collected([1, 2], change))).toEqual([2]);
  });

  test('two approved policies of one version, each shown to a half, are adopted by none of them', async () => {
    const [change, rival] = [changeTo(second, OLD), changeTo(other, OLD)];
    const [ofHalf, ofOthers] = [await collected([1, 2], change), await collected([3, 4], rival)];
    expect(await sent([1, 2], [change], ofHalf)).toEqual(['not-enough-attestations 2', 'not-enough-attestations 2']);
    expect(await sent([3, 4], [rival], ofOthers)).toEqual(['not-enough-attestations 2', 'not-enough-attestations 2']);
    expect(await all[0]?.attest(rival)).toBe('other-choice 2');
    expect(await all[3]?.attest(change)).toBe('other-choice 2');
    expect(all.map(({ vault }) => vault.version())).toEqual([1, 1, 1, 1]);
  });

  test('a choice ends an hour after its mandate, so a divided choice does not block the version for ever', async () => {
    const soon = Date.now() + HOUR_MS;
    const [change, rival] = [changeTo(second, OLD, soon), changeTo(other, OLD, soon)];
    await collected([1, 2], change);
    await collected([3, 4], rival);
    const later = changeTo(successor(first, { threshold: 1 }), OLD, soon + 5 * HOUR_MS);
    for (const cosigner of all) cosigner.nowMs = soon + HOUR_MS - 1;
    expect(await all[0]?.attest(later)).toBe('other-choice 2');
    for (const cosigner of all) cosigner.nowMs = soon + HOUR_MS;
    expect(await sent(EVERYBODY, [later], await collected(EVERYBODY, later))).toEqual([2, 2, 2, 2]);
  });

  test('attestations of a choice end with the mandate, and those of an adoption do not', async () => {
    const soon = Date.now() + HOUR_MS;
    const change = changeTo(second, OLD, soon);
    const chosen = await collected([1, 2, 3], change);
    expect(await sent([1, 2, 3], [change], chosen)).toEqual([2, 2, 2]);
    present(all[3]).nowMs = soon;
    expect(await sent([4], [change], chosen)).toEqual(['mandate-expired 2']);
    expect(await sent([4], [change], await collected([1, 2], change))).toEqual(['mandate-expired 2']);
    expect(await sent([4], [change], { chosen: new Map(), adopted: chosen.chosen })).toEqual(['mandate-expired 2']);
    expect(await sent([4], [change], await collected([1, 2, 3], change))).toEqual([2]);
  });

  test('a mandate that expires while a co-signer verifies it is neither attested nor adopted', async () => {
    const change = changeTo(second, OLD, Date.now() + HOUR_MS + HOUR_MS / 2);
    const chosen = await collected([2, 3], change);
    const [late] = all;
    Object.assign(present(late), { stepMs: HOUR_MS });
    expect(await late?.adopt([change], chosen)).toBe('mandate-expired 2');
    Object.assign(present(late), { nowMs: Date.now() });
    expect(await late?.attest(change)).toBe('mandate-expired 2');
    expect(late?.vault.choice()).toBeNull();
  });

  describe('two mandates of the same policy', () => {
    const soon = Date.now() + HOUR_MS;
    const far = Date.now() + 480 * HOUR_MS;
    const afterSoon = soon + HOUR_MS + 1;
    const rival = changeTo(other, OLD, far);

    test('the shorter one does not end a choice that was attested with the longer one', async () => {
      const long = changeTo(second, OLD, far);
      expect((await collected([1, 2, 3], long)).chosen.size).toBe(3);
      await collected([1, 2, 3], changeTo(second, OLD, soon));
      // A successor with a short mandate does not end it either.
      await collected([2, 3], long, changeTo(successor(second), OLD, soon));
      for (const cosigner of all) cosigner.nowMs = afterSoon;
      expect(await Promise.all(some(1, 2, 3).map((cosigner) => cosigner.attest(rival)))).toEqual([
        'other-choice 2',
        'other-choice 3',
        'other-choice 3',
      ]);
    });

    test('attestations of one do not count with the other', async () => {
      const old = await collected([1, 2, 3], changeTo(second, OLD, soon));
      for (const cosigner of all) cosigner.nowMs = afterSoon;
      expect(await sent([1, 2, 3], [rival], await collected([1, 2, 3], rival))).toEqual([2, 2, 2]);
      expect(await sent([4], [changeTo(second, OLD, far)], old)).toEqual(['not-enough-attestations 2']);
    });
  });

  test('of two policies that a co-signer receives at once it chooses one', async () => {
    const [one] = some(1);
    const answers = await Promise.all([one?.attest(changeTo(second, OLD)), one?.attest(changeTo(other, OLD))]);
    expect(answers.map((given) => (typeof given === 'string' ? given : 'attested')).toSorted()).toEqual([
      'attested',
      'other-choice 2',
    ]);
  });

  test('a mandate that was created ahead, or an unapproved policy, is not attested', async () => {
    const [one] = some(1);
    expect(await one?.attest(changeTo(second, [LAPTOP]))).toBe('policy-mismatch 1');
    expect(await one?.attest(changeTo(second, OLD, Date.now() - HOUR_MS))).toBe('mandate-expired 2');
    expect(await one?.attest(changeTo(second, OLD, Date.now() + 91 * 24 * HOUR_MS))).toBe('mandate-expired 2');
    const foreign = successor(first, {
      cosigners: [1, 2, 3, 4].map((index) => ({ index, signing: `${index}a`.repeat(32) })),
    });
    expect(await one?.attest(changeTo(foreign, OLD))).toBe('other-cosigners 2');
    // An expired change stays expired behind a fresh one that only its own devices approved.
    const late = changeTo({ ...revoked, ...second, devices: revoked.devices }, OLD, Date.now() - HOUR_MS);
    const fresh = changeTo(successor(late.policy), NEW);
    expect(await one?.attest(late, fresh)).toBe('mandate-expired 2');
    expect(one?.vault.choice()).toBeNull();
  });
});

describe('two histories of one version', () => {
  /** Puts two policies of version 2 in force, as hostile co-signers can that attest both. */
  function divide() {
    const [change, rival] = [changeTo(second, OLD), changeTo(other, OLD)];
    for (const { vault } of some(1, 2)) vault.adopt([change.policy]);
    for (const { vault } of some(3, 4)) vault.adopt([rival.policy]);
    return { change, rival };
  }

  test('a successor with the approvals of both quorums unites them', async () => {
    const { change } = divide();
    // Version 2 of co-signers 3 and 4 requires a third approval.
    const third = successor(second);
    const bySecond = [change, changeTo(third, OLD)];
    expect(await all[2]?.attest(...bySecond)).toBe('policy-mismatch 2');
    expect(await sent([3], bySecond, await collected([1, 2], ...bySecond))).toEqual(['policy-mismatch 2']);
    for (const { vault } of some(3, 4))
      vault.adopt([successor(first, { rules: { ...first.rules, signOnce: 'quorum' } })]);
    const expired = [changeTo(second, OLD, Date.now() - HOUR_MS), changeTo(third, OLD)];
    const attestations = await collected(EVERYBODY, ...expired);
    expect([...attestations.chosen.keys()]).toHaveLength(4);
    expect(await sent(EVERYBODY, expired, attestations)).toEqual([3, 3, 3, 3]);
    expect(new Set(all.map(({ vault }) => vault.hashAt(2)))).toEqual(new Set([policyHashOf(second)]));
  });

  test('no co-signer goes to another history that is not longer, or to another first policy', async () => {
    const { change } = divide();
    expect(await sent([3], [change], await collected([1, 2], change))).toEqual(['policy-mismatch 2']);
    const stranger = founded({ ...first, threshold: 1 });
    const behind = [changeTo(successor(stranger.policy), OLD), changeTo(successor(successor(stranger.policy)), OLD)];
    expect(await sent([1], [stranger, ...behind], NONE)).toEqual(['policy-mismatch 2']);
  });
});

describe('before the first key', () => {
  test('policies need no attestations and can be replaced, until a key pins them', async () => {
    const vault = new Cosigner(present((await groupOf(3, 4)).parties[0]));
    expect(await vault.attest(founded(first))).toBe('none');
    expect(await vault.adopt([founded({ ...first, threshold: 1 })], NONE)).toBe(1);
    expect(await vault.adopt([founded(first), changeTo(second, OLD)], NONE)).toBe(2);
    expect(await vault.adopt([founded(first), changeTo(other, OLD, Date.now() - HOUR_MS)], NONE)).toBe(
      'mandate-expired 2',
    );
    expect(vault.vault.pin(nameOf(other))).toMatchObject({ code: 'policy-mismatch' });
    expect(vault.vault.pin(nameOf(second))).toBeNull();
    expect(await vault.adopt([founded({ ...first, threshold: 1 })], NONE)).toBe('policy-mismatch 2');
  });

  test('three adopters pin the policies of a co-signer that joins', async () => {
    const change = changeTo(second, OLD);
    expect(await sent([1, 2, 3], [change], await collected([1, 2, 3], change))).toEqual([2, 2, 2]);
    const joining = new Cosigner(present((await groupOf(3, 4)).parties[3]));
    const list = [founded(first), changeTo(second, OLD, Date.now() - HOUR_MS)];
    expect(await joining.adopt(list, await collected([1, 2], change))).toBe('mandate-expired 2');
    expect(await joining.adopt(list, await collected([1, 2, 3], change))).toBe(2);
    expect([joining.vault.isPinned(), joining.vault.version()]).toEqual([true, 2]);
  });

  test('a forged policy with a lower signing threshold does not pin with less than a majority', async () => {
    const { parties, memberships } = await groupOf(3, 4);
    const joining = new Cosigner(present(parties[3]));
    const forged = { ...first, signingThreshold: 2 };
    const attested = { policy: nameOf(forged), stage: 'adopted', endsAtMs: null } as const;
    const adopted = new Map<PartyIndex, Uint8Array>();
    for (const liar of parties.slice(0, 2))
      adopted.set(liar, await attestationKeysOf(present(memberships.get(liar))).sign(attested));
    expect(await joining.adopt([founded(forged)], { chosen: new Map(), adopted })).toBe(1);
    expect(joining.vault.isPinned()).toBe(false);
    const genesis = founded(first);
    expect(await joining.adopt([genesis], await collected([1, 2, 3], genesis))).toBe(1);
    expect([joining.vault.isPinned(), joining.vault.hashAt(1)]).toEqual([true, policyHashOf(first)]);
  });

  test('a co-signer without a key attests a change, so one with a key can adopt it', async () => {
    // A key generation that was cut off in its last round pins one co-signer alone.
    const fresh = (await groupOf(3, 4)).parties.map((index) => new Cosigner(index));
    all = [present(all[0]), ...fresh.slice(1)];
    const list = [founded(first), changeTo(second, OLD)];
    const attestations = await collected([1, 2, 3], ...list);
    expect(await sent([1, 2, 3], list, attestations)).toEqual([2, 2, 2]);
  });
});

test('the storage of a vault keeps its policies, its choice and its pin, and reading an empty one writes nothing', () => {
  const sql = memorySql();
  const empty = new VaultPolicies(sql);
  expect([empty.version(), empty.at(1), empty.hashAt(1), empty.choice(), empty.isPinned(), empty.view(null)]).toEqual([
    0,
    null,
    null,
    null,
    false,
    null,
  ]);
  expect(sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([]);
  empty.adopt([first, second]);
  empty.pin(nameOf(second));
  empty.putChoice(other, 5);
  const again = new VaultPolicies(sql);
  expect([again.version(), again.at(1), again.at(2), again.isPinned()]).toEqual([2, first, second, true]);
  expect(again.choice()).toEqual({ version: 2, hash: policyHashOf(other), untilMs: 5 });
  expect(again.view(1)).toEqual({ current: second, named: first, isPinned: true });
  expect(again.view(7)).toEqual({ current: second, named: null, isPinned: true });
});
