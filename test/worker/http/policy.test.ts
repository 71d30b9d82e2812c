import { runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { parseTransactionId } from '#domain/id.ts';
import { HASH, inclusion, PREPARED } from '../../domain/cast.ts';
import type { Answer, Person, Treasury } from './scene.ts';
import {
  anotherToken,
  ask,
  asService,
  changePolicy,
  coordinator,
  created,
  foundTreasury,
  payment,
  RECIPIENT,
  stored,
} from './scene.ts';

/** What signers agree on beyond the threshold, and how they change it. */

afterEach(() => {
  vi.useRealTimers();
});

const OTHER = '0x4444444444444444444444444444444444444444';
const TOKEN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
const code = ({ status, body }: Answer) => [status, body['code']];

async function pay(treasury: Treasury, differences: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
  const { token } = await anotherToken(treasury.alice);
  return ask('POST /transaction/transfer', { token, body: payment(treasury, differences) });
}

async function approve(person: Person, id: string): Promise<Answer> {
  const { token } = await anotherToken(person);
  return ask(`POST /transaction/${id}/approve`, { token });
}

async function propose(treasury: Treasury, wish: object, person: Person = treasury.alice): Promise<Answer> {
  const { token } = await anotherToken(person);
  return ask(`POST /vault/${treasury.id}/policy-change`, { token, body: wish });
}

async function decide(treasury: Treasury, person: Person, id: string, decision: string): Promise<Answer> {
  const { token } = await anotherToken(person);
  return ask(`POST /vault/${treasury.id}/policy-change/${id}/${decision}`, { token });
}

async function policyOf(treasury: Treasury): Promise<Answer> {
  return ask(`GET /vault/${treasury.id}/policy`, { token: (await anotherToken(treasury.victor)).token });
}

test('a vault is founded with rules, and everybody in it reads them', async () => {
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

test('nothing changes before enough signers have agreed, and then everything at once', async () => {
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

test('neither an operator nor an admin nor one signer changes who decides', async () => {
  const treasury = await foundTreasury();
  const wanted = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { threshold: 1 });
  expect([wanted.status, wanted.body['createdBy'], wanted.body['actionsForMe']]).toEqual([201, null, []]);
  const { token } = treasury.victor;
  expect(code(await propose(treasury, { threshold: 1 }, treasury.victor))).toEqual([403, 'forbidden']);
  for (const decision of ['approve', 'reject', 'cancel']) {
    for (const person of [treasury.victor, treasury.mallory]) {
      expect(code(await decide(treasury, person, wanted.body['id'], decision))).toEqual([403, 'forbidden']);
    }
  }
  for (let i = 0; i < 2; i++) await decide(treasury, treasury.alice, wanted.body['id'], 'approve');
  const seen = await ask(`GET /vault/${treasury.id}/policy-change/${wanted.body['id']}`, { token });
  expect([seen.body['state'], seen.body['approvals'].length]).toEqual(['PENDING', 1]);
  expect((await policyOf(treasury)).body['policy'].version).toBe(1);
});

test('one signer against it ends a change; whoever wanted it takes it back', async () => {
  const treasury = await foundTreasury();
  const first = await propose(treasury, { threshold: 3 });
  await decide(treasury, treasury.alice, first.body['id'], 'approve');
  const rejected = await decide(treasury, treasury.carol, first.body['id'], 'reject');
  expect([rejected.body['state'], rejected.body['rejection'].userId]).toEqual(['REJECTED', treasury.carol.id]);
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

test('the same wish again is the same change; the policy that there is needs none', async () => {
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

test('a change that is adopted ends all others: they followed a policy that is no more', async () => {
  const treasury = await foundTreasury();
  const [loser, winner] = [await propose(treasury, { threshold: 1 }), await propose(treasury, { threshold: 3 })];
  await decide(treasury, treasury.alice, loser.body['id'], 'approve');
  for (const person of [treasury.alice, treasury.bob]) await decide(treasury, person, winner.body['id'], 'approve');
  expect(code(await decide(treasury, treasury.bob, loser.body['id'], 'approve'))).toEqual([
    409,
    'policy-change-not-pending',
  ]);
  const { token } = await anotherToken(treasury.victor);
  const list = await ask(`GET /vault/${treasury.id}/policy-change`, { token });
  expect(list.body['policyChanges'].map(({ state }: { state: string }) => state)).toEqual(['ADOPTED', 'SUPERSEDED']);
  expect((await policyOf(treasury)).body['policy'].threshold).toBe(3);
});

test('at most ten changes are pending, and the list has pages', async () => {
  const treasury = await foundTreasury();
  const wish = (n: number) => ({ limits: [{ chain: 'anvil', perTransaction: String(n) }] });
  for (let n = 1; n <= 10; n++) expect((await propose(treasury, wish(n))).status).toBe(201);
  expect(code(await propose(treasury, wish(11)))).toEqual([409, 'too-many-policy-changes']);
  const { token } = treasury.victor;
  const path = `GET /vault/${treasury.id}/policy-change`;
  const ids = (answer: Answer) => answer.body['policyChanges'].map(({ id }: { id: string }) => id);
  const all = ids(await ask(path, { token }));
  expect([all.length, new Set(all).size]).toEqual([10, 10]);
  const rest = await ask(`${path}?cursor=${all[3]}`, { token });
  expect([ids(rest), rest.body['nextCursor']]).toEqual([all.slice(4), null]);
  expect((await ask(`${path}?cursor=x`, { token })).status).toBe(400);
});

test('a change that nobody decides expires by itself', async () => {
  const treasury = await foundTreasury({ decisionPeriodSeconds: 60 });
  const { body } = await propose(treasury, { threshold: 3 });
  const { token } = treasury.bob;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(body['expiresAt']) });
  const late = await ask(`POST /vault/${treasury.id}/policy-change/${body['id']}/approve`, { token });
  expect([late.status, late.body['state']]).toEqual([409, 'EXPIRED']);
  await runDurableObjectAlarm(coordinator.VAULT.getByName(`vault:${treasury.id}`));
  const seen = await ask(`GET /vault/${treasury.id}/policy-change/${body['id']}`, { token });
  expect(seen.body['state']).toBe('EXPIRED');
});

test('as many as a large payment takes are needed to make large payments small', async () => {
  const treasury = await foundTreasury({
    rules: { higherThresholds: [{ chain: 'anvil', above: '1000', threshold: 3 }] },
  });
  const { body } = await propose(treasury, { higherThresholds: [] });
  expect(body['requiredApprovals']).toBe(3);
  for (const person of [treasury.alice, treasury.bob]) await decide(treasury, person, body['id'], 'approve');
  expect((await policyOf(treasury)).body['policy'].version).toBe(1);
  expect((await decide(treasury, treasury.carol, body['id'], 'approve')).body['state']).toBe('ADOPTED');
});

test('a policy that could not be is refused by the field that makes it so, and nothing is stored', async () => {
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
  for (const [wish, pointer] of cases) {
    const answer = await propose(treasury, wish);
    expect([wish, answer.status, answer.body['errors']?.[0]?.pointer]).toEqual([wish, 400, pointer]);
  }
  expect(await stored(treasury)).toEqual(before);
});

test('only the address book is paid where the signers want it so, and it says who that is', async () => {
  const treasury = await foundTreasury();
  const pending = await created(treasury, { to: OTHER });
  await changePolicy(treasury, {
    recipients: 'address-book',
    addressBook: [{ chain: 'anvil', address: RECIPIENT, name: 'Landlord' }],
  });
  const before = await stored(treasury);
  const stranger = await pay(treasury, { to: OTHER });
  expect([...code(stranger), stranger.body['breach']]).toEqual([
    422,
    'policy-forbids',
    { rule: 'address-book', address: OTHER },
  ]);
  expect(await stored(treasury)).toEqual(before);
  const landlord = await pay(treasury);
  expect([landlord.status, landlord.body['knownAs']]).toEqual([201, [{ address: RECIPIENT, name: 'Landlord' }]]);
  // What was proposed before is held to it too.
  const seen = await ask(`GET /transaction/${pending.body['id']}`, { token: treasury.victor.token });
  expect(seen.body['forbiddenBy']).toContain(OTHER);
  expect(code(await approve(treasury.bob, pending.body['id']))).toEqual([422, 'policy-forbids']);
});

test('an address that looks like one of the address book is refused by its name', async () => {
  const treasury = await foundTreasury({
    rules: { addressBook: [{ chain: 'anvil', address: RECIPIENT, name: 'Landlord' }] },
  });
  const answer = await pay(treasury, { to: '0x2229999999999999999999999999999999992222' });
  expect([...code(answer), answer.body['known']]).toEqual([409, 'recipient-looks-alike', RECIPIENT]);
});

test('a large amount takes more voices, and the record says why', async () => {
  const treasury = await foundTreasury({
    rules: { higherThresholds: [{ chain: 'anvil', above: '1000', threshold: 3 }] },
  });
  const [small, large] = [await pay(treasury), await pay(treasury, { amount: '1001' })];
  expect([small.body['requiredApprovals'], large.body['requiredApprovals']]).toEqual([2, 3]);
  expect(
    large.body['requirements'].map(({ rule, approvals }: { rule: string; approvals: number }) => [rule, approvals]),
  ).toEqual([
    ['threshold', 2],
    ['amount', 3],
  ]);
  for (const person of [treasury.alice, treasury.bob]) await approve(person, large.body['id']);
  const two = await ask(`GET /transaction/${large.body['id']}`, { token: treasury.victor.token });
  expect(two.body['state']).toBe('SUBMITTED');
  expect((await approve(treasury.carol, large.body['id'])).body['state']).toBe('SIGNING');
});

test('one transaction moves at most its limit, by whatever way it goes', async () => {
  const treasury = await foundTreasury({
    rules: {
      limits: [
        { chain: 'anvil', perTransaction: '1000' },
        { chain: 'anvil', tokenAddress: TOKEN, perTransaction: '50' },
      ],
    },
  });
  expect((await pay(treasury)).status).toBe(201);
  const over = await pay(treasury, { amount: '1001' });
  expect([...code(over), over.body['breach'].rule]).toEqual([422, 'policy-forbids', 'per-transaction']);
  const place = { vaultId: treasury.id, chain: 'anvil' };
  const approveCall = `0x095ea7b3${RECIPIENT.slice(2).padStart(64, '0')}${(51).toString(16).padStart(64, '0')}`;
  const tries: readonly (readonly [string, object])[] = [
    ['erc20-approve', { tokenAddress: TOKEN, spender: RECIPIENT, amount: '51' }],
    ['contract-interaction', { to: TOKEN, data: approveCall, value: '0' }],
    ['contract-interaction', { to: TOKEN, data: '0xd0e30db0', value: '1001' }],
    ['transfer', { to: RECIPIENT, tokenAddress: TOKEN, amount: '51' }],
  ];
  for (const [kind, body] of tries) {
    const { token } = await anotherToken(treasury.alice);
    const answer = await ask(`POST /transaction/${kind}`, { token, body: { ...place, ...body } });
    expect([kind, ...code(answer)]).toEqual([kind, 422, 'policy-forbids']);
  }
});

test('what nobody can weigh is refused where the signers want it so', async () => {
  const treasury = await foundTreasury({ rules: { unreadableThreshold: null } });
  const { token } = treasury.alice;
  const body = { vaultId: treasury.id, chain: 'anvil', to: TOKEN, data: '0x12345678', value: '0' };
  const answer = await ask('POST /transaction/contract-interaction', { token, body });
  expect([...code(answer), answer.body['breach']]).toEqual([422, 'policy-forbids', { rule: 'unreadable' }]);
  const words = await ask('POST /transaction/message', {
    token,
    body: { vaultId: treasury.id, chain: 'anvil', message: 'hi' },
  });
  expect(words.status).toBe(201);
});

test('a day has its limit: decided payments count for 24 hours, failed ones not at all', async () => {
  const treasury = await foundTreasury({ rules: { limits: [{ chain: 'anvil', perDay: '2000' }] } });
  const [one, two, three] = [await pay(treasury), await pay(treasury), await pay(treasury)];
  const decideFor = async (id: string) => {
    await approve(treasury.alice, id);
    return approve(treasury.bob, id);
  };
  expect((await decideFor(one.body['id'])).body['state']).toBe('SIGNING');
  expect((await decideFor(two.body['id'])).body['state']).toBe('SIGNING');
  expect((await policyOf(treasury)).body['spent']).toEqual(['2000']);
  // The voice that would decide is refused, and not counted; the one before it was.
  const third = await decideFor(three.body['id']);
  expect([...code(third), third.body['breach']]).toEqual([
    422,
    'policy-forbids',
    {
      rule: 'per-day',
      asset: { chain: 'eip155:31337', tokenAddress: null },
      limit: '2000',
      amount: '1000',
      spent: '2000',
    },
  ]);
  expect(code(await pay(treasury, { amount: '1' }))).toEqual([422, 'policy-forbids']);
  // One fails before it is signed: it has spent nothing.
  const failing = parseTransactionId(one.body['id']);
  if (failing === null) throw new Error('the id must parse');
  const vault = coordinator.VAULT.getByName(`vault:${treasury.id}`);
  await vault.record(failing, { type: 'failSigning', reason: 'SIMULATION_REVERTED', detail: null });
  expect((await policyOf(treasury)).body['spent']).toEqual(['1000']);
  expect((await approve(treasury.bob, three.body['id'])).body['state']).toBe('SIGNING');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * 60 * 60 * 1000 });
  const { token } = await anotherToken(treasury.victor);
  expect((await ask(`GET /vault/${treasury.id}/policy`, { token })).body['spent']).toEqual(['0']);
});

test('what was reverted on its chain is not spent, and a reorganisation makes it count again', async () => {
  const treasury = await foundTreasury({ rules: { limits: [{ chain: 'anvil', perDay: '2000' }] } });
  const { body } = await pay(treasury);
  const id = parseTransactionId(body['id']);
  if (id === null) throw new Error('the id must parse');
  for (const person of [treasury.alice, treasury.bob]) await approve(person, id);
  const vault = coordinator.VAULT.getByName(`vault:${treasury.id}`);
  const spent = async () => (await policyOf(treasury)).body['spent'][0];
  await vault.record(id, { type: 'prepare', attempt: PREPARED });
  await vault.record(id, { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH });
  await vault.record(id, { type: 'send', attempt: 1, outcome: 'accepted', answer: null });
  expect(await spent()).toBe('1000');
  const reverted = inclusion({ succeeded: false, failure: 'no' });
  await vault.record(id, { type: 'include', inclusion: reverted, confirmationsNeeded: 1 });
  expect(await spent()).toBe('0');
  await vault.record(id, { type: 'miss', inMempool: false, nonceTaken: false });
  expect(await spent()).toBe('1000');
});

test('approvals that arrive together spend the day’s limit once', async () => {
  const treasury = await foundTreasury({ rules: { limits: [{ chain: 'anvil', perDay: '1500' }] } });
  const [one, two] = [await pay(treasury), await pay(treasury)];
  for (const { body } of [one, two]) await approve(treasury.alice, body['id']);
  const voices = await Promise.all([one, two].map(({ body }) => approve(treasury.bob, body['id'])));
  expect(voices.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
  expect((await policyOf(treasury)).body['spent']).toEqual(['1000']);
});

test('every step of a change is a line of the vault’s history', async () => {
  const treasury = await foundTreasury();
  const { body } = await propose(treasury, { threshold: 3 });
  for (const person of [treasury.alice, treasury.bob]) await decide(treasury, person, body['id'], 'approve');
  const { token } = treasury.victor;
  const { body: page } = await ask(`GET /vault/${treasury.id}/history`, { token });
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
