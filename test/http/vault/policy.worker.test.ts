import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import type { Answer, Person, Treasury } from '../scene.worker.ts';
import {
  anotherToken,
  call,
  asService,
  coordinator,
  fillSlots,
  foundTreasury,
  RECIPIENT,
  stored,
} from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/** Covers the policy of a vault, and how signers change it. */

afterEach(() => {
  vi.useRealTimers();
});

const OTHER = '0x4444444444444444444444444444444444444444';
const TOKEN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
const code = ({ status, body }: Answer) => [status, body['code']];

async function propose(treasury: Treasury, patch: object, person: Person = treasury.alice): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(`POST /vault/${treasury.id}/policy-change`, { token, body: patch });
}

async function decide(treasury: Treasury, person: Person, id: string, decision: string): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(`POST /vault/${treasury.id}/policy-change/${id}/${decision}`, { token });
}

async function policyOf(treasury: Treasury): Promise<Answer> {
  return call(`GET /vault/${treasury.id}/policy`, { token: (await anotherToken(treasury.victor)).token });
}

test('a vault is created with rules, and every member reads them', async () => {
  const rules = {
    recipients: 'address-book',
    addressBook: [{ chain: 'anvil', address: RECIPIENT.toLowerCase(), name: 'Landlord' }],
    limits: [{ chain: 'eip155:31337', perTransaction: '5000', perDay: '9000' }],
    higherThresholds: [{ chain: 'anvil', tokenAddress: TOKEN, above: '100', threshold: 3 }],
    unreadableThreshold: null,
  };
  const treasury = await foundTreasury({ rules });
  const { status, body } = await policyOf(treasury);
  expect(status).toBe(200);
  expect(body['policy']).toMatchObject({
    version: 1,
    threshold: 2,
    changeThreshold: 3,
    recipients: 'address-book',
    addressBook: [{ chain: 'anvil', address: RECIPIENT, name: 'Landlord' }],
    limits: [{ chain: 'anvil', tokenAddress: null, perTransaction: '5000', perDay: '9000' }],
    higherThresholds: [{ chain: 'anvil', tokenAddress: TOKEN, above: '100', threshold: 3 }],
    unreadableThreshold: null,
  });
  expect(body['spent']).toEqual(['0']);
});

test('a policy changes only after enough signers have approved, and then at once', async () => {
  const treasury = await foundTreasury();
  const before = await policyOf(treasury);
  const proposed = await propose(treasury, { threshold: 3, note: 'Since the incident' });
  expect([proposed.status, proposed.body['state'], proposed.body['requiredApprovals']]).toEqual([201, 'PENDING', 2]);
  const id: string = proposed.body['id'];
  const first = await decide(treasury, treasury.alice, id, 'approve');
  expect([first.status, first.body['state'], first.body['actionsForMe']]).toEqual([
    200,
    'PENDING',
    ['reject', 'cancel'],
  ]);
  expect((await policyOf(treasury)).body).toEqual(before.body);
  const second = await decide(treasury, treasury.bob, id, 'approve');
  expect([second.status, second.body['state'], second.body['actionsForMe']]).toEqual([200, 'ADOPTED', []]);
  const { body } = await policyOf(treasury);
  expect(body['policy']).toMatchObject({ version: 2, threshold: 3, previousHash: before.body['policy'].hash });
  expect(body['policy']).toEqual(second.body['policy']);
  const again = await decide(treasury, treasury.bob, id, 'approve');
  expect([again.status, again.body]).toEqual([200, second.body]);
  expect(code(await decide(treasury, treasury.carol, id, 'approve'))).toEqual([409, 'policy-change-not-pending']);
});

test('neither an operator nor an admin nor a single signer can change the signers', async () => {
  const treasury = await foundTreasury();
  const requested = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { threshold: 1 });
  expect([requested.status, requested.body['createdBy'], requested.body['actionsForMe']]).toEqual([201, null, []]);
  const { token } = treasury.victor;
  expect(code(await propose(treasury, { threshold: 1 }, treasury.victor))).toEqual([403, 'forbidden']);
  for (const decision of ['approve', 'reject', 'cancel']) {
    for (const person of [treasury.victor, treasury.mallory]) {
      expect(code(await decide(treasury, person, requested.body['id'], decision))).toEqual([403, 'forbidden']);
    }
  }
  for (let i = 0; i < 2; i++) await decide(treasury, treasury.alice, requested.body['id'], 'approve');
  const seen = await call(`GET /vault/${treasury.id}/policy-change/${requested.body['id']}`, { token });
  expect([seen.body['state'], seen.body['approvals'].length]).toEqual(['PENDING', 1]);
  expect((await policyOf(treasury)).body['policy'].version).toBe(1);
});

test('rejections end a policy change that cannot be adopted any more, and its creator can cancel it', async () => {
  const treasury = await foundTreasury();
  const first = await propose(treasury, { threshold: 3 });
  const id: string = first.body['id'];
  await decide(treasury, treasury.alice, id, 'approve');
  const one = await decide(treasury, treasury.carol, id, 'reject');
  expect([one.body['state'], one.body['actionsForMe']]).toEqual(['PENDING', ['approve']]);
  // An approval that was withdrawn is no approval.
  const two = await decide(treasury, treasury.alice, id, 'reject');
  const rejecters = two.body['rejections'].map(({ userId }: { readonly userId: string }) => userId);
  expect([two.body['state'], two.body['approvals']]).toEqual(['REJECTED', []]);
  expect(rejecters).toEqual([treasury.carol.id, treasury.alice.id]);
  expect((await decide(treasury, treasury.carol, id, 'reject')).body).toEqual({ ...two.body, actionsForMe: [] });
  expect(code(await decide(treasury, treasury.bob, id, 'reject'))).toEqual([409, 'policy-change-not-pending']);
  const second = await propose(treasury, { threshold: 3 });
  expect(second.body['id']).not.toBe(first.body['id']);
  expect(code(await decide(treasury, treasury.bob, second.body['id'], 'cancel'))).toEqual([403, 'forbidden']);
  const cancelled = await decide(treasury, treasury.alice, second.body['id'], 'cancel');
  expect(cancelled.body['state']).toBe('CANCELLED');
  expect(code(await decide(treasury, treasury.bob, second.body['id'], 'approve'))).toEqual([
    409,
    'policy-change-not-pending',
  ]);
});

test('a signer whom a change removes has no action, and is refused each decision', async () => {
  const treasury = await foundTreasury();
  const signers = [treasury.alice.id, treasury.carol.id];
  const { body } = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { signers });
  const actions = async (person: Person) =>
    (await call(`GET /vault/${treasury.id}/policy-change/${body['id']}`, { token: person.token })).body['actionsForMe'];
  expect([await actions(treasury.alice), await actions(treasury.bob)]).toEqual([['approve', 'reject'], []]);
  for (const decision of ['approve', 'reject']) {
    expect(code(await decide(treasury, treasury.bob, body['id'], decision))).toEqual([403, 'removed-by-change']);
  }
  expect((await policyOf(treasury)).body['policy'].version).toBe(1);
});

test('a repeated request gives the same change, and a request for the current policy gives none', async () => {
  const treasury = await foundTreasury();
  const book = [
    { chain: 'anvil', address: RECIPIENT, name: 'Landlord' },
    { chain: 'anvil', address: OTHER, name: 'Baker' },
  ];
  const first = await propose(treasury, { addressBook: book });
  const again = await propose(treasury, { addressBook: book.toReversed() }, treasury.bob);
  expect(again.body['id']).toBe(first.body['id']);
  expect(code(await propose(treasury, {}))).toEqual([409, 'policy-unchanged']);
  expect(code(await propose(treasury, { threshold: 2, recipients: 'anyone' }))).toEqual([409, 'policy-unchanged']);
});

test('an adopted change supersedes all other pending changes', async () => {
  const treasury = await foundTreasury();
  const [loser, winner] = [await propose(treasury, { threshold: 1 }), await propose(treasury, { threshold: 3 })];
  await decide(treasury, treasury.alice, loser.body['id'], 'approve');
  for (const person of [treasury.alice, treasury.bob]) await decide(treasury, person, winner.body['id'], 'approve');
  expect(code(await decide(treasury, treasury.bob, loser.body['id'], 'approve'))).toEqual([
    409,
    'policy-change-not-pending',
  ]);
  const { token } = await anotherToken(treasury.victor);
  const list = await call(`GET /vault/${treasury.id}/policy-change`, { token });
  expect(list.body['policyChanges'].map(({ state }: { state: string }) => state)).toEqual(['ADOPTED', 'SUPERSEDED']);
  expect((await policyOf(treasury)).body['policy'].threshold).toBe(3);
});

test('a vault has ten pending policy changes at most, and their list has pages', async () => {
  const treasury = await foundTreasury();
  const patch = (n: number) => ({ limits: [{ chain: 'anvil', perTransaction: String(n) }] });
  await fillSlots(treasury);
  expect(code(await propose(treasury, patch(11)))).toEqual([409, 'too-many-policy-changes']);
  const { token } = treasury.victor;
  const path = `GET /vault/${treasury.id}/policy-change`;
  const ids = (answer: Answer) => answer.body['policyChanges'].map(({ id }: { id: string }) => id);
  const all = ids(await call(path, { token }));
  expect([all.length, new Set(all).size]).toEqual([10, 10]);
  const rest = await call(`${path}?cursor=${all[3]}`, { token });
  expect([ids(rest), rest.body['nextCursor']]).toEqual([all.slice(4), null]);
  expect((await call(`${path}?cursor=x`, { token })).status).toBe(400);
});

test('a policy change without a decision expires by itself', async () => {
  const treasury = await foundTreasury({ decisionPeriodSeconds: 60 });
  const { body } = await propose(treasury, { threshold: 3 });
  const { token } = treasury.bob;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(body['expiresAt']) });
  const late = await call(`POST /vault/${treasury.id}/policy-change/${body['id']}/approve`, { token });
  expect([late.status, late.body['state']]).toEqual([409, 'EXPIRED']);
  await runDurableObjectAlarm(vaultOf(coordinator, treasury.id));
  const seen = await call(`GET /vault/${treasury.id}/policy-change/${body['id']}`, { token });
  expect(seen.body['state']).toBe('EXPIRED');
});

test('a change that removes a higher threshold requires as many approvals as that threshold', async () => {
  const treasury = await foundTreasury({
    rules: { higherThresholds: [{ chain: 'anvil', above: '1000', threshold: 3 }] },
  });
  const { body } = await propose(treasury, { higherThresholds: [] });
  expect(body['requiredApprovals']).toBe(3);
  for (const person of [treasury.alice, treasury.bob]) await decide(treasury, person, body['id'], 'approve');
  expect((await policyOf(treasury)).body['policy'].version).toBe(1);
  expect((await decide(treasury, treasury.carol, body['id'], 'approve')).body['state']).toBe('ADOPTED');
});

test('an impossible policy is refused with its invalid field, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  const entry = { chain: 'anvil', address: RECIPIENT, name: 'Landlord' };
  const before = await stored(treasury);
  const cases: readonly (readonly [object, string])[] = [
    [{ threshold: 4 }, '/threshold'],
    [{ threshold: 0 }, '/threshold'],
    [{ signers: [] }, '/signers'],
    [{ signers: ['nobody'] }, '/signers/0'],
    [{ signers: [treasury.alice.id] }, '/threshold'],
    [{ signers: [treasury.alice.id, treasury.alice.id] }, '/signers'],
    [{ addressBook: [entry, { ...entry, name: 'Twice' }] }, '/addressBook'],
    [{ addressBook: [{ ...entry, address: '0x12' }] }, '/addressBook/0/address'],
    [{ addressBook: [{ ...entry, chain: 'atlantis' }] }, '/addressBook/0/chain'],
    [{ addressBook: [{ ...entry, name: ' ' }] }, '/addressBook/0/name'],
    [{ limits: [{ chain: 'anvil' }] }, '/limits'],
    [{ limits: [{ chain: 'anvil', perDay: '1.5' }] }, '/limits/0/perDay'],
    [{ limits: [{ chain: 'anvil', tokenAddress: 'x', perDay: '1' }] }, '/limits/0/tokenAddress'],
    [{ higherThresholds: [{ chain: 'anvil', above: '1', threshold: 4 }] }, '/higherThresholds'],
    [{ unreadableThreshold: 4 }, '/higherThresholds'],
    [{ limit: '1' }, '/limit'],
  ];
  for (const [patch, pointer] of cases) {
    const answer = await propose(treasury, patch);
    expect([patch, answer.status, answer.body['errors']?.[0]?.pointer]).toEqual([patch, 400, pointer]);
  }
  expect(await stored(treasury)).toEqual(before);
});

test('a stranger who proposes users learns nothing about them', async () => {
  const treasury = await foundTreasury();
  for (const signers of [[treasury.alice.id], ['usr_01J00000000000000000000000'], ['nobody']]) {
    expect(code(await propose(treasury, { signers }, treasury.mallory))).toEqual([403, 'forbidden']);
  }
});

test('every step of a policy change is a line of the vault’s history', async () => {
  const treasury = await foundTreasury();
  const { body } = await propose(treasury, { threshold: 3 });
  for (const person of [treasury.alice, treasury.bob]) await decide(treasury, person, body['id'], 'approve');
  const { token } = treasury.victor;
  const { body: page } = await call(`GET /vault/${treasury.id}/history`, { token });
  const lines: readonly { readonly action: string; readonly digest: string }[] = page['history'];
  const about = lines.filter(({ action }) => action.endsWith('-policy'));
  expect(about.map(({ action }) => action)).toEqual([
    'propose-policy',
    'approve-policy',
    'approve-policy',
    'adopt-policy',
  ]);
  expect(about.slice(0, 3).map(({ digest }) => digest)).toEqual(Array(3).fill(body['digest']));
});
