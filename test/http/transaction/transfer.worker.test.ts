import { expect, test } from 'vitest';
import type { Treasury } from '../scene.worker.ts';
import {
  accept,
  anotherToken,
  call,
  asService,
  created,
  enter,
  foundTreasury,
  payment,
  RECIPIENT,
  stored,
  WALLET,
} from '../scene.worker.ts';

const MAX_AMOUNT = (2n ** 256n - 1n).toString();

test('a created transfer has everything that a client needs to show it', async () => {
  const treasury = await foundTreasury();
  const answer = await created(treasury, { note: 'Rent', externalId: 'inv-7' });
  const { body, headers } = answer;
  expect(headers.get('location')).toBe(`/transaction/${body['id']}`);
  expect(body).toMatchObject({
    vaultId: treasury.id,
    kind: 'transfer',
    state: 'SUBMITTED',
    displayType: 'SENT',
    direction: 'out',
    chain: 'anvil',
    from: WALLET,
    to: RECIPIENT,
    asset: { tokenAddress: null, symbol: 'ETH', decimals: 18 },
    amount: '1000',
    txHash: null,
    note: 'Rent',
    externalId: 'inv-7',
    requiredApprovals: 2,
    approvalsCounted: 0,
    approvals: [],
    actionsForMe: ['approve', 'reject', 'cancel'],
    createdBy: treasury.alice.id,
  });
});

test('a transfer with an end states this end, and cannot be decided after it', async () => {
  const treasury = await foundTreasury();
  const [soon, late] = [60_000, 60 * 24 * 60 * 60_000].map((ms) => new Date(Date.now() + ms).toISOString());
  const { body } = await created(treasury, { notAfter: soon });
  expect([body['notAfter'], body['expiresAt']]).toEqual([soon, soon]);
  const { body: patient } = await created(treasury, { notAfter: late });
  expect(patient['notAfter']).toBe(late);
  expect(Date.parse(String(patient['expiresAt']))).toBeLessThan(Date.parse(late ?? ''));
  expect((await created(treasury, { notAfter: null })).body['notAfter']).toBe(null);
});

test('a transfer whose end has passed is refused, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  const body = { ...payment(treasury), notAfter: '2026-01-01T00:00:00Z' };
  const answer = await call('POST /transaction/transfer', { token: treasury.alice.token, body });
  expect([answer.status, answer.body['code']]).toEqual([422, 'not-after-passed']);
  expect(await stored(treasury)).toEqual(before);
});

test('the vault decides whether a transfer begins as DRAFT or SUBMITTED', async () => {
  const drafts = await foundTreasury({ initialState: 'DRAFT' });
  expect((await created(drafts)).body['state']).toBe('DRAFT');
  const submitted = await foundTreasury({ initialState: 'SUBMITTED' });
  expect((await created(submitted)).body['state']).toBe('SUBMITTED');
});

test('null and an absent field mean the same: the native asset, or no note', async () => {
  const treasury = await foundTreasury();
  const answer = await created(treasury, { tokenAddress: null, note: null, externalId: null });
  expect([answer.body['asset'].tokenAddress, answer.body['note']]).toEqual([null, null]);
});

test('the CAIP-2 name of a chain is accepted like its alias, and an address in lower case like its checksummed form', async () => {
  const treasury = await foundTreasury();
  const answer = await created(treasury, { chain: 'eip155:31337', to: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045' });
  expect(answer.body['chain']).toBe('anvil');
  expect(answer.body['to']).toBe('0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045');
});

const [tooLong, deep] = ['x'.repeat(129), `${'['.repeat(500)}${']'.repeat(500)}`];

/** One invalid field: its name, its value, and the code of the error at its pointer. */
const BAD: readonly (readonly [field: string, value: unknown, code: string])[] = [
  ['vaultId', undefined, 'invalid_type'],
  ['vaultId', null, 'invalid_type'],
  ['vaultId', '1', 'invalid_type'],
  ['vaultId', 1.5, 'invalid_type'],
  ['vaultId', 0, 'too_small'],
  ['vaultId', -1, 'too_small'],
  ['vaultId', 2 ** 53, 'too_big'],
  ['vaultId', 1e300, 'too_big'],
  ['vaultId', [1], 'invalid_type'],
  ['chain', undefined, 'invalid_type'],
  ['chain', '', 'too_small'],
  ['chain', 7, 'invalid_type'],
  ['chain', 'atlantis', 'unknown-chain'],
  ['chain', 'ANVIL', 'unknown-chain'],
  ['chain', '__proto__', 'unknown-chain'],
  ['chain', 'constructor', 'unknown-chain'],
  ['chain', 'x'.repeat(65), 'too_big'],
  ['to', undefined, 'invalid_type'],
  ['to', '', 'too_small'],
  ['to', 42, 'invalid_type'],
  ['to', tooLong, 'too_big'],
  ['to', 'alice.eth', 'malformed'],
  ['to', '0x', 'malformed'],
  ['to', `${RECIPIENT}0`, 'malformed'],
  ['to', RECIPIENT.slice(2), 'malformed'],
  ['to', ` ${RECIPIENT}`, 'malformed'],
  ['to', `0X${RECIPIENT.slice(2)}`, 'malformed'],
  ['to', '0x0000000000000000000000000000000000000000', 'zero-address'],
  ['to', '0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045', 'bad-checksum'],
  ['amount', undefined, 'invalid_type'],
  ['amount', null, 'invalid_type'],
  ['amount', 1000, 'invalid_type'],
  ['amount', '', 'too_small'],
  ['amount', '0', 'invalid-amount'],
  ['amount', '-1', 'invalid-amount'],
  ['amount', '+1', 'invalid-amount'],
  ['amount', '1.0', 'invalid-amount'],
  ['amount', '1e18', 'invalid-amount'],
  ['amount', '0x10', 'invalid-amount'],
  ['amount', '007', 'invalid-amount'],
  ['amount', ' 7', 'invalid-amount'],
  ['amount', '7\n', 'invalid-amount'],
  ['amount', '1_000', 'invalid-amount'],
  ['amount', '１', 'invalid-amount'],
  ['amount', 'NaN', 'invalid-amount'],
  ['amount', `${MAX_AMOUNT}0`, 'invalid-amount'],
  ['amount', (2n ** 256n).toString(), 'invalid-amount'],
  ['amount', '9'.repeat(129), 'too_big'],
  ['tokenAddress', '', 'too_small'],
  ['tokenAddress', 'USDC', 'malformed'],
  ['tokenAddress', '0x0000000000000000000000000000000000000000', 'zero-address'],
  ['tokenAddress', {}, 'invalid_type'],
  ['notAfter', 7, 'invalid_type'],
  ['notAfter', 'tomorrow', 'invalid_format'],
  ['notAfter', new Date(Date.now() + 91 * 24 * 60 * 60_000).toISOString(), 'too-late'],
  ['notAfter', '2027-01-01', 'invalid_format'],
  ['note', 7, 'invalid_type'],
  ['note', 'x'.repeat(501), 'custom'],
  ['note', 'pay \u202Eecila', 'custom'],
  ['note', 'line\u0000', 'custom'],
  ['note', 'two\nlines', 'custom'],
  ['note', '\uD800', 'ill-formed-text'],
  ['externalId', 'a\uDC00', 'ill-formed-text'],
  ['externalId', '', 'invalid_format'],
  ['externalId', 'with space', 'invalid_format'],
  ['externalId', tooLong, 'invalid_format'],
  // The chain of the payment does not support memos.
  ['memo', '104729', 'invalid-memo'],
  ['memo', 7, 'invalid_type'],
  ['memo', 'x'.repeat(257), 'too_big'],
  ['recipientMayHaveNoKey', 'true', 'invalid_type'],
];

test('every invalid field is named by its pointer, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  let trent = await enter('trent');
  for (const [i, [field, value, code]] of BAD.entries()) {
    // A new person is needed after forty tokens, because a person has fifty at most.
    if (i % 40 === 39) trent = await enter('trent');
    const { token } = await anotherToken(trent);
    const answer = await call('POST /transaction/transfer', { token, body: payment(treasury, { [field]: value }) });
    const errors: readonly { pointer: string; code: string }[] = answer.body['errors'] ?? [];
    expect([answer.status, answer.body['code'], errors.map(({ pointer }) => pointer), errors[0]?.code]).toEqual([
      400,
      'invalid-request',
      [`/${field}`],
      code,
    ]);
  }
  expect(await stored(treasury)).toEqual(before);
});

test.each<[string, string, Record<string, string>, number, string]>([
  ['no JSON', 'amount=1', {}, 400, 'malformed-json'],
  ['half of JSON', '{"vaultId": 1', {}, 400, 'malformed-json'],
  ['nothing', '', {}, 400, 'malformed-json'],
  ['a list', '[]', {}, 400, 'invalid-request'],
  ['a text', '"transfer"', {}, 400, 'invalid-request'],
  ['null', 'null', {}, 400, 'invalid-request'],
  ['a deep list', deep, {}, 400, 'invalid-request'],
  ['another type', '{}', { 'content-type': 'text/plain' }, 415, 'unsupported-media-type'],
  ['a form', '{}', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'unsupported-media-type'],
  ['another encoding', '{}', { 'content-type': 'application/json; charset=utf-16' }, 415, 'unsupported-media-type'],
  ['too much', `{"note":"${'x'.repeat(70_000)}"}`, {}, 413, 'body-too-large'],
])('a body of %s is refused with its reason', async (_name, raw, headers, status, code) => {
  const { token } = await enter('trent');
  const answer = await call('POST /transaction/transfer', { token, raw, headers });
  expect([answer.status, answer.body['code']]).toEqual([status, code]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
});

test('an unknown field is refused and not ignored, because it may be misspelt', async () => {
  const treasury = await foundTreasury();
  const body = payment(treasury, { token_address: RECIPIENT, 'a/b~c': 1 });
  const answer = await call('POST /transaction/transfer', { token: treasury.alice.token, body });
  expect(answer.status).toBe(400);
  expect(answer.body['errors'].map(({ pointer, code }: Record<string, string>) => [pointer, code])).toEqual([
    ['/token_address', 'unknown-field'],
    ['/a~1b~0c', 'unknown-field'],
  ]);
});

test('the largest amount that a chain can carry is accepted', async () => {
  const treasury = await foundTreasury();
  // A token, because no wallet has the fee besides so much of the native asset.
  const most = { amount: MAX_AMOUNT, tokenAddress: '0x4444444444444444444444444444444444444444' };
  expect((await created(treasury, most)).body['amount']).toBe(MAX_AMOUNT);
});

test('only members with the permission may create', async () => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  const body = payment(treasury);
  const create = (token: string) => call('POST /transaction/transfer', { token, body });
  const [viewer, outsider] = [await create(treasury.victor.token), await create(treasury.mallory.token)];
  const nowhere = await call('POST /transaction/transfer', {
    token: treasury.mallory.token,
    body: { ...body, vaultId: 987_654 },
  });
  expect([viewer.status, outsider.status, nowhere.status]).toEqual([403, 403, 403]);
  // A missing vault gives the same response as a vault of others.
  const shape = ({ body: { requestId: _requestId, ...rest } }: typeof outsider) => rest;
  expect(shape(nowhere)).toEqual(shape(outsider));
  expect(await stored(treasury)).toEqual(before);
});

test('a transfer is refused with the reason if its chain is not used or its wallet is not created yet', async () => {
  const treasury = await foundTreasury();
  const elsewhere = await call('POST /transaction/transfer', {
    token: treasury.alice.token,
    body: payment(treasury, { chain: 'ethereum' }),
  });
  expect([elsewhere.status, elsewhere.body['code']]).toEqual([422, 'chain-not-enabled']);
  const young = await asService('POST /internal/vault', {
    name: 'Young',
    members: [{ userId: treasury.alice.id, roles: ['initiator', 'signer'] }],
    threshold: 1,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
  });
  await accept(young.body['id'], treasury.alice);
  const early = await call('POST /transaction/transfer', {
    token: treasury.alice.token,
    body: payment({ ...treasury, id: young.body['id'] }),
  });
  expect([early.status, early.body['code']]).toEqual([409, 'wallet-not-ready']);
});

test('a vault with the maximum number of pending proposals accepts another only after a decision', async () => {
  const treasury: Treasury = await foundTreasury({ mostPending: 2 });
  const first = await created(treasury);
  await created({ ...treasury, alice: treasury.bob });
  const { token } = treasury.alice;
  const third = await call('POST /transaction/transfer', { token, body: payment(treasury) });
  expect([third.status, third.body['code']]).toEqual([409, 'too-many-pending']);
  await call(`POST /transaction/${first.body['id']}/reject`, { token });
  expect((await created(treasury)).status).toBe(201);
});
