import { expect, test } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import { parseTokenId, parseUserId } from '#domain/id.ts';
import { consolidation } from '#objects/vault/writes/new-transaction.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';
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
  WALLET,
} from '../scene.worker.ts';

/** Covers the largest fee that the creator of a transaction names. */

/** The fee cap of the chain `anvil`, in wei. */
const CHAIN_CAP = '50000000000000000';

/** Of a Bitcoin transaction of unknown size, in satoshi. */
const SIZE_CAP = '150000';

const BODIES = {
  transfer: { to: RECIPIENT, amount: '1000' },
  'contract-interaction': { to: RECIPIENT, data: '0xd0e30db0', value: '0' },
  'erc20-approve': { tokenAddress: RECIPIENT, spender: WALLET, amount: '1' },
} as const;
type Kind = keyof typeof BODIES;
const KINDS = Object.keys(BODIES) as readonly Kind[];

test.each(KINDS)('the maxFee of a %s is in its record and in the intent that signers approve', async (kind) => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const body = { vaultId: treasury.id, chain: 'anvil', ...BODIES[kind] };
  const named = await call(`POST /transaction/${kind}`, { token, body: { ...body, maxFee: '12345000000000000' } });
  expect([named.status, named.body['maxFee']]).toEqual([201, '12345000000000000']);
  const challenge = await call(`GET /transaction/${named.body['id']}/challenge`, { token });
  expect(challenge.body['intent']['maxFee']).toBe('12345000000000000');
  for (const maxFee of [null, undefined]) {
    const answer = await call(`POST /transaction/${kind}`, { token, body: { ...body, maxFee } });
    expect([answer.status, answer.body['maxFee']]).toEqual([201, CHAIN_CAP]);
  }
});

test('a maxFee above the fee cap of the chain is refused with the largest one, which is accepted', async () => {
  const treasury = await foundTreasury();
  await expectLargest(treasury, CHAIN_CAP);
});

test('a maxFee above that of the policy is refused with the one of the policy, which is accepted', async () => {
  const treasury = await foundTreasury();
  await changePolicy(treasury, { maxFees: [{ chain: 'anvil', amount: '50000' }] });
  await expectLargest(treasury, '50000');
  expect((await created(treasury)).body['maxFee']).toBe('50000');
});

async function expectLargest(treasury: Awaited<ReturnType<typeof foundTreasury>>, largest: string): Promise<void> {
  const before = await stored(treasury);
  const body = payment(treasury, { maxFee: (BigInt(largest) + 1n).toString() });
  const answer = await call('POST /transaction/transfer', { token: treasury.alice.token, body });
  expect(answer.status).toBe(422);
  expect(answer.body).toMatchObject({
    code: 'max-fee-above-cap',
    largest,
    errors: [{ pointer: '/maxFee', detail: expect.stringContaining(largest) as string }],
  });
  expect(await stored(treasury)).toEqual(before);
  expect((await created(treasury, { maxFee: largest })).body['maxFee']).toBe(largest);
}

test('a maxFee of zero, or one that is no whole number, is refused, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  const { token } = await anotherToken(treasury.alice);
  for (const maxFee of ['0', '', '00', '1.5', '-1', '0x10', '1e9', ' 1', 1, (2n ** 256n).toString()]) {
    const spare = maxFee === '0' ? token : (await anotherToken(treasury.alice)).token;
    const answer = await call('POST /transaction/transfer', { token: spare, body: payment(treasury, { maxFee }) });
    expect([maxFee, answer.status, answer.body['code']]).toEqual([maxFee, 400, 'invalid-request']);
    expect(answer.body['errors'].map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/maxFee']);
  }
  expect(await stored(treasury)).toEqual(before);
});

test('a message pays no fee, so its body has no maxFee', async () => {
  const treasury = await foundTreasury();
  const body = { vaultId: treasury.id, chain: 'anvil', message: 'hello', maxFee: '1' };
  const answer = await call('POST /transaction/message', { token: treasury.alice.token, body });
  expect([answer.status, answer.body['errors'][0]]).toMatchObject([400, { pointer: '/maxFee', code: 'unknown-field' }]);
});

test('a repeated Idempotency-Key with another maxFee is refused, and with the same one replayed', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const headers = { 'idempotency-key': 'rent-may' };
  const send = (maxFee: string) =>
    call('POST /transaction/transfer', { token, headers, body: payment(treasury, { maxFee }) });
  const first = await send('700000000000000');
  const other = await send('800000000000000');
  expect([first.status, other.status, other.body['code']]).toEqual([201, 422, 'idempotency-key-reused']);
  const again = await send('700000000000000');
  expect([again.body['id'], again.body['maxFee']]).toEqual([first.body['id'], '700000000000000']);
});

test('a limit that includes fees counts the maxFee of the creator, not the fee cap', async () => {
  const treasury = await foundTreasury();
  const limits = [{ chain: 'anvil', tokenAddress: null, perTransaction: '2000000000001000', perDay: null }];
  await changePolicy(treasury, { limits, limitsIncludeFees: true });
  const { token } = treasury.alice;
  const send = (differences: object) =>
    call('POST /transaction/transfer', { token, body: payment(treasury, { ...differences }) });
  expect((await send({})).body['code']).toBe('policy-forbids');
  expect((await send({ maxFee: '2000000000000001' })).body['code']).toBe('policy-forbids');
  expect((await send({ maxFee: '2000000000000000' })).status).toBe(201);
});

test('the maxFee of a consolidation of unknown size is at most the cap of a small transaction', async () => {
  const treasury = await foundTreasury({ chains: ['bitcoin-regtest'] });
  const zero = { chain: 'bitcoin-regtest', maxFee: '0' };
  const refused = await call(`POST /vault/${treasury.id}/consolidate`, { token: treasury.alice.token, body: zero });
  expect(refused.body['code']).toBe('invalid-request');
  const [userId, tokenId] = [parseUserId(treasury.alice.id), parseTokenId('0'.repeat(16))];
  if (userId === null || tokenId === null) throw new Error('the ids must parse');
  // The handler states the size as unknown when no server estimates it.
  const frame = {
    chain: 'bitcoin-regtest',
    action: consolidation(''),
    joins: 5,
    virtualSize: null,
    speed: 'slow',
  } as const;
  const none = { note: null, externalId: null, acceptLookalikeOf: null, notAfterMs: null, idempotency: null };
  const send = (maxFee: bigint) =>
    vaultOf(coordinator, treasury.id).execute(
      { userId, tokenId, address: null },
      { type: 'createTransaction', request: { ...frame, ...none, maxFee: amountOf(maxFee) } },
    );
  expect(await send(BigInt(SIZE_CAP) + 1n)).toMatchObject({
    ok: false,
    refusal: { code: 'max-fee-above-cap', largest: SIZE_CAP },
  });
  expect(await send(900n)).toMatchObject({ ok: true, value: { view: { transaction: { intent: { maxFee: '900' } } } } });
});
