import { afterEach, expect, test, vi } from 'vitest';
import { parseTransactionId } from '#domain/id.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import { HASH, inclusion, PREPARED } from '../../domain/cast.ts';
import type { Answer, Person, Treasury } from '../scene.worker.ts';
import {
  anotherToken,
  call,
  changePolicy,
  coordinator,
  created,
  foundTreasury,
  payment,
  RECIPIENT,
  stored,
} from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/** Covers the effects of policy rules on transactions. */

afterEach(() => {
  vi.useRealTimers();
});

const OTHER = '0x4444444444444444444444444444444444444444';
const TOKEN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
const code = ({ status, body }: Answer) => [status, body['code']];

async function pay(treasury: Treasury, differences: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
  const { token } = await anotherToken(treasury.alice);
  return call('POST /transaction/transfer', { token, body: payment(treasury, differences) });
}

async function approve(person: Person, id: string): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(`POST /transaction/${id}/approve`, { token });
}

async function policyOf(treasury: Treasury): Promise<Answer> {
  return call(`GET /vault/${treasury.id}/policy`, { token: (await anotherToken(treasury.victor)).token });
}

test('only addresses in the address book are paid if the policy says so, and a refusal names the address', async () => {
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
  // The rule applies to an earlier proposal too.
  const seen = await call(`GET /transaction/${pending.body['id']}`, { token: treasury.victor.token });
  expect(seen.body['forbiddenBy']).toContain(OTHER);
  expect(code(await approve(treasury.bob, pending.body['id']))).toEqual([422, 'policy-forbids']);
});

test('a look-alike of an address in the address book is refused with that address', async () => {
  const treasury = await foundTreasury({
    rules: { addressBook: [{ chain: 'anvil', address: RECIPIENT, name: 'Landlord' }] },
  });
  const answer = await pay(treasury, { to: '0x2229999999999999999999999999999999992222' });
  expect([...code(answer), answer.body['known']]).toEqual([409, 'recipient-looks-alike', RECIPIENT]);
});

test('a large amount requires more approvals, and the record states why', async () => {
  const treasury = await foundTreasury({
    rules: { limitsIncludeFees: false, higherThresholds: [{ chain: 'anvil', above: '1000', threshold: 3 }] },
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
  const two = await call(`GET /transaction/${large.body['id']}`, { token: treasury.victor.token });
  expect(two.body['state']).toBe('SUBMITTED');
  expect((await approve(treasury.carol, large.body['id'])).body['state']).toBe('SIGNING');
});

test('one transaction moves at most the per-transaction limit, whatever its kind', async () => {
  const treasury = await foundTreasury({
    rules: {
      limitsIncludeFees: false,
      limits: [
        { chain: 'anvil', perTransaction: '1000' },
        { chain: 'anvil', tokenAddress: TOKEN, perTransaction: '50' },
      ],
    },
  });
  expect((await pay(treasury)).status).toBe(201);
  const over = await pay(treasury, { amount: '1001' });
  expect([...code(over), over.body['breach'].rule]).toEqual([422, 'policy-forbids', 'per-transaction']);
  const position = { vaultId: treasury.id, chain: 'anvil' };
  const approveCall = `0x095ea7b3${RECIPIENT.slice(2).padStart(64, '0')}${(51).toString(16).padStart(64, '0')}`;
  const tries: readonly (readonly [string, object])[] = [
    ['erc20-approve', { tokenAddress: TOKEN, spender: RECIPIENT, amount: '51' }],
    ['contract-interaction', { to: TOKEN, data: approveCall, value: '0' }],
    ['contract-interaction', { to: TOKEN, data: '0xd0e30db0', value: '1001' }],
    ['transfer', { to: RECIPIENT, tokenAddress: TOKEN, amount: '51' }],
  ];
  for (const [kind, body] of tries) {
    const { token } = await anotherToken(treasury.alice);
    const answer = await call(`POST /transaction/${kind}`, { token, body: { ...position, ...body } });
    expect([kind, ...code(answer)]).toEqual([kind, 422, 'policy-forbids']);
  }
});

test('an unreadable transaction is refused if the policy says so', async () => {
  const treasury = await foundTreasury({ rules: { unreadableThreshold: null } });
  const { token } = treasury.alice;
  const body = { vaultId: treasury.id, chain: 'anvil', to: TOKEN, data: '0x12345678', value: '0' };
  const answer = await call('POST /transaction/contract-interaction', { token, body });
  expect([...code(answer), answer.body['breach']]).toEqual([422, 'policy-forbids', { rule: 'unreadable' }]);
  const words = await call('POST /transaction/message', {
    token,
    body: { vaultId: treasury.id, chain: 'anvil', message: 'hi' },
  });
  expect(words.status).toBe(201);
});

test('the maximum fee counts toward the limit of the native asset, unless the policy says otherwise', async () => {
  const limits = [{ chain: 'anvil', perTransaction: '3000' }];
  const [counting, bare] = [await foundTreasury({ rules: { limits } }), await foundTreasury()];
  expect([...code(await pay(counting)), (await pay(counting)).body['breach'].rule]).toEqual([
    422,
    'policy-forbids',
    'per-transaction',
  ]);
  // The policy limits the fee, and the intent then names that limit.
  await changePolicy(counting, { maxFees: [{ chain: 'anvil', amount: '2000' }] });
  const paid = await pay(counting);
  expect([paid.status, paid.body['maxFee']]).toEqual([201, '2000']);
  expect(code(await pay(counting, { amount: '1001' }))).toEqual([422, 'policy-forbids']);
  expect((await policyOf(bare)).body['policy']).toMatchObject({
    limitsIncludeFees: true,
    signOnce: 'quorum',
    maxFees: null,
  });
});

test('the daily limit counts payments until they are signed and 24 hours from then, and no failed ones', async () => {
  const treasury = await foundTreasury({
    rules: { limitsIncludeFees: false, limits: [{ chain: 'anvil', perDay: '2000' }] },
  });
  const [one, two, three] = [await pay(treasury), await pay(treasury), await pay(treasury)];
  const decideFor = async (id: string) => {
    await approve(treasury.alice, id);
    return approve(treasury.bob, id);
  };
  expect((await decideFor(one.body['id'])).body['state']).toBe('SIGNING');
  expect((await decideFor(two.body['id'])).body['state']).toBe('SIGNING');
  expect((await policyOf(treasury)).body['spent']).toEqual(['2000']);
  // The approval that would decide is refused and not counted. The approval before it was counted.
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
  // One payment fails before it is signed, so it has spent nothing.
  const failing = parseTransactionId(one.body['id']);
  if (failing === null) throw new Error('the id must parse');
  const vault = vaultOf(coordinator, treasury.id);
  await vault.report({
    type: 'recordEvent',
    id: failing,
    event: { type: 'failSigning', reason: 'SIMULATION_REVERTED', detail: null },
  });
  expect((await policyOf(treasury)).body['spent']).toEqual(['1000']);
  expect((await approve(treasury.bob, three.body['id'])).body['state']).toBe('SIGNING');
  const id = parseTransactionId(two.body['id']);
  if (id === null) throw new Error('the id must parse');
  const decidedMs = Date.now();
  const spentAt = async (nowMs: number) => {
    vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
    return (await policyOf(treasury)).body['spent'][0];
  };
  expect(await spentAt(decidedMs + DAY_MS)).toBe('2000');
  expect(code(await pay(treasury, { amount: '1' }))).toEqual([422, 'policy-forbids']);
  await vault.report({ type: 'recordEvent', id, event: { type: 'prepare', attempt: PREPARED } });
  await vault.report({ type: 'recordEvent', id, event: { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH } });
  expect(await spentAt(decidedMs + 2 * DAY_MS - 1)).toBe('2000');
  expect(await spentAt(decidedMs + 2 * DAY_MS)).toBe('1000');
});

test('a reverted payment does not count as spent, and counts again after a reorganisation', async () => {
  const treasury = await foundTreasury({
    rules: { limitsIncludeFees: false, limits: [{ chain: 'anvil', perDay: '2000' }] },
  });
  const { body } = await pay(treasury);
  const id = parseTransactionId(body['id']);
  if (id === null) throw new Error('the id must parse');
  for (const person of [treasury.alice, treasury.bob]) await approve(person, id);
  const vault = vaultOf(coordinator, treasury.id);
  const spent = async () => (await policyOf(treasury)).body['spent'][0];
  await vault.report({ type: 'recordEvent', id, event: { type: 'prepare', attempt: PREPARED } });
  await vault.report({ type: 'recordEvent', id, event: { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH } });
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'send', attempt: 1, outcome: 'accepted', answer: null },
  });
  expect(await spent()).toBe('1000');
  const reverted = inclusion({ succeeded: false, failure: 'no' });
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'include', inclusion: reverted, confirmationsNeeded: 1 },
  });
  expect(await spent()).toBe('0');
  await vault.report({ type: 'recordEvent', id, event: { type: 'miss', inMempool: false, nonceTaken: false } });
  expect(await spent()).toBe('1000');
});

test('simultaneous approvals cannot spend the daily limit twice', async () => {
  const treasury = await foundTreasury({
    rules: { limitsIncludeFees: false, limits: [{ chain: 'anvil', perDay: '1500' }] },
  });
  const [one, two] = [await pay(treasury), await pay(treasury)];
  for (const { body } of [one, two]) await approve(treasury.alice, body['id']);
  const approvals = await Promise.all([one, two].map(({ body }) => approve(treasury.bob, body['id'])));
  expect(approvals.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 422]);
  expect((await policyOf(treasury)).body['spent']).toEqual(['1000']);
});
