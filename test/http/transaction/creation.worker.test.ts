import { expect, test } from 'vitest';
import { anotherToken, call, enter, foundTreasury, RECIPIENT, stored, WALLET, WITHOUT_NODES } from '../scene.worker.ts';

/**
 * Covers the creation of messages, calls and allowances (spec part 4). transfer.test.ts covers what
 * all four creations have in common.
 */

const TOKEN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
const TRANSFER_CALL = `0xa9059cbb${'2'.repeat(40).padStart(64, '0')}${'7'.padStart(64, '0')}`;

const PERMIT = {
  types: { Permit: [{ name: 'value', type: 'uint256' }] },
  primaryType: 'Permit',
  domain: { name: 'Dollar', chainId: 31337 },
  message: { value: '5' },
};

const BODIES = {
  message: { message: 'Sign in to example.com\n\nNonce: 7' },
  'contract-interaction': { to: TOKEN, data: TRANSFER_CALL, value: '0' },
  'erc20-approve': { tokenAddress: TOKEN, spender: RECIPIENT, amount: '25' },
} as const;
type Kind = keyof typeof BODIES;
const KINDS = Object.keys(BODIES) as readonly Kind[];

const NOTHING = {
  to: null,
  asset: null,
  amount: null,
  spender: null,
  data: null,
  call: null,
  maxFee: null,
  messageFormat: null,
  message: null,
  foreignChainId: null,
  droppedKeys: null,
};
const SHOWN: Readonly<Record<Kind, object>> = {
  message: { ...NOTHING, displayType: 'MESSAGE', messageFormat: 'eip191', message: BODIES.message.message },
  'contract-interaction': {
    ...NOTHING,
    displayType: 'CONTRACT_INTERACTION',
    to: TOKEN,
    asset: { tokenAddress: null, symbol: 'ETH', decimals: 18 },
    amount: '0',
    data: TRANSFER_CALL,
    call: {
      standard: 'ERC-20',
      function: 'transfer',
      arguments: [
        { name: 'to', type: 'address', value: RECIPIENT },
        { name: 'amount', type: 'uint256', value: '7' },
      ],
    },
    maxFee: expect.stringMatching(/^\d+$/),
  },
  'erc20-approve': {
    ...NOTHING,
    displayType: 'CONTRACT_INTERACTION',
    to: TOKEN,
    asset: { tokenAddress: TOKEN, symbol: null, decimals: null },
    amount: '25',
    spender: RECIPIENT,
    maxFee: expect.stringMatching(/^\d+$/),
  },
};

test.each(KINDS)('a %s is created, read, challenged and listed with all its effects', async (kind) => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const body = { vaultId: treasury.id, chain: 'anvil', ...BODIES[kind], note: 'Rent', externalId: 'inv-7' };
  const created = await call(`POST /transaction/${kind}`, { token, body });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    ...SHOWN[kind],
    kind,
    vaultId: treasury.id,
    state: 'SUBMITTED',
    from: WALLET,
    note: 'Rent',
    externalId: 'inv-7',
    txHash: null,
    signature: null,
    nonce: null,
    actionsForMe: ['approve', 'reject', 'cancel'],
  });
  const id: string = created.body['id'];
  const read = await call(`GET /transaction/${id}`, { token });
  expect(read.body).toEqual(created.body);
  const list = await call(`GET /vault/${treasury.id}/transactions`, { token });
  expect(list.body['transactions']).toEqual([created.body]);
  const challenge = await call(`GET /transaction/${id}/challenge`, { token });
  expect(challenge.body['intent']).toMatchObject({ kind, chain: 'eip155:31337', from: WALLET });
  expect(challenge.body['digest']).toBe(created.body['digest']);
});

test('a message in the form of typed data is signed as typed data, in one canonical spelling', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const body = { vaultId: treasury.id, chain: 'anvil', message: JSON.stringify(PERMIT, null, 2) };
  const created = await call('POST /transaction/message', { token, body });
  expect([created.status, created.body['messageFormat']]).toEqual([201, 'eip712']);
  expect(created.body['warnings']).not.toContainEqual(expect.objectContaining({ code: 'valid-on-every-chain' }));
  const { EIP712Domain, ...types } = JSON.parse(created.body['message']).types;
  expect([types, EIP712Domain.length]).toEqual([PERMIT.types, 2]);
});

test('a message whose signature names no chain carries a warning in the record and in the challenge', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const { chainId, ...domain } = PERMIT.domain;
  expect(chainId).toBe(31337);
  for (const message of ['I own this address', JSON.stringify({ ...PERMIT, domain })]) {
    const body = { vaultId: treasury.id, chain: 'anvil', message };
    const created = await call('POST /transaction/message', { token, body });
    const challenge = await call(`GET /transaction/${created.body['id']}/challenge`, { token });
    for (const { warnings } of [created.body, challenge.body]) {
      expect(warnings).toContainEqual(expect.objectContaining({ code: 'valid-on-every-chain' }));
    }
  }
});

test('typed data for another chain id is created when the request names this id, with a warning for signers', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const message = JSON.stringify({ ...PERMIT, domain: { ...PERMIT.domain, chainId: 1337 } });
  const body = { vaultId: treasury.id, chain: 'anvil', message };
  const refusedOne = await call('POST /transaction/message', { token, body });
  expect(refusedOne.body['errors']).toMatchObject([
    { pointer: '/message', code: 'invalid-message', detail: expect.stringContaining('acceptForeignChainId to "1337"') },
  ]);
  const created = await call('POST /transaction/message', { token, body: { ...body, acceptForeignChainId: '1337' } });
  expect([created.status, created.body['foreignChainId']]).toEqual([201, '1337']);
  const challenge = await call(`GET /transaction/${created.body['id']}/challenge`, { token });
  expect(challenge.body['intent']).toMatchObject({ foreignChainId: '1337' });
  for (const { warnings } of [created.body, challenge.body]) {
    expect(warnings).toContainEqual(expect.objectContaining({ code: 'foreign-chain' }));
  }
});

test('keys that no type declares are dropped from typed data, with a warning for signers', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const message = JSON.stringify({ ...PERMIT, message: { ...PERMIT.message, type: 'Permit' } });
  const body = { vaultId: treasury.id, chain: 'anvil', message };
  const created = await call('POST /transaction/message', { token, body });
  expect([created.status, created.body['droppedKeys']]).toEqual([201, 1]);
  expect(JSON.parse(created.body['message']).message).toEqual(PERMIT.message);
  const challenge = await call(`GET /transaction/${created.body['id']}/challenge`, { token });
  for (const { warnings } of [created.body, challenge.body]) {
    expect(warnings).toContainEqual(expect.objectContaining({ code: 'dropped-keys' }));
  }
});

test('a message is bytes where the request says so, and a text otherwise', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  for (const [encoding, messageFormat] of [
    ['hex', 'eip191-hex'],
    ['text', 'eip191'],
    [undefined, 'eip191'],
  ]) {
    const body = { vaultId: treasury.id, chain: 'anvil', message: '0xdeadbeef', encoding };
    const created = await call('POST /transaction/message', { token, body });
    expect(created).toMatchObject({ status: 201, body: { messageFormat, message: '0xdeadbeef' } });
    const isRaw = created.body['warnings'].some(({ code }: { code: string }) => code === 'raw-bytes');
    expect(isRaw).toBe(encoding === 'hex');
  }
});

const BAD: readonly (readonly [Kind, object, string, string])[] = [
  ['message', { message: undefined }, '/message', 'invalid_type'],
  ['message', { message: 7 }, '/message', 'invalid_type'],
  ['message', { message: PERMIT }, '/message', 'invalid_type'],
  ['message', { message: '' }, '/message', 'invalid-message'],
  ['message', { message: 'hello', encoding: 'hex' }, '/message', 'invalid-message'],
  ['message', { message: '0x', encoding: 'hex' }, '/message', 'invalid-message'],
  ['message', { message: '0xab', encoding: 'base64' }, '/encoding', 'invalid_value'],
  ['message', { message: '0xab', encoding: 'hex', chain: 'solana' }, '/encoding', 'invalid-message'],
  ['message', { message: '0xab', encoding: 'hex', chain: 'bitcoin' }, '/encoding', 'invalid-message'],
  ['message', { message: 'x', acceptForeignChainId: '0x1' }, '/acceptForeignChainId', 'invalid_format'],
  ['message', { message: 'x', acceptForeignChainId: 1 }, '/acceptForeignChainId', 'invalid_type'],
  ['message', { message: 'x'.repeat(16_385) }, '/message', 'invalid-message'],
  ['message', { message: '\uD800' }, '/message', 'ill-formed-text'],
  ['message', { message: 'pay \u202Eecila' }, '/message', 'deceptive-text'],
  ['message', { message: 'bell\u0007' }, '/message', 'deceptive-text'],
  ['message', { message: JSON.stringify({ ...PERMIT, domain: { chainId: 1 } }) }, '/message', 'invalid-message'],
  ['message', { message: JSON.stringify({ ...PERMIT, message: {} }) }, '/message', 'invalid-message'],
  [
    'message',
    { message: JSON.stringify({ ...PERMIT, domain: { name: 'A\u202E' } }).replace('\u202E', '\\u202e') },
    '/message',
    'deceptive-text',
  ],
  ['message', { to: RECIPIENT }, '/to', 'unknown-field'],
  ['contract-interaction', { data: undefined }, '/data', 'invalid_type'],
  ['contract-interaction', { data: 'a9059cbb' }, '/data', 'invalid-data'],
  ['contract-interaction', { data: '0xa9059cb' }, '/data', 'invalid-data'],
  ['contract-interaction', { data: '0xzz' }, '/data', 'invalid-data'],
  ['contract-interaction', { data: `0x${'00'.repeat(24_577)}` }, '/data', 'invalid-data'],
  ['contract-interaction', { value: undefined }, '/value', 'invalid_type'],
  ['contract-interaction', { value: 0 }, '/value', 'invalid_type'],
  ['contract-interaction', { value: '-1' }, '/value', 'invalid-amount'],
  ['contract-interaction', { value: '0.5' }, '/value', 'invalid-amount'],
  ['contract-interaction', { to: '0x' }, '/to', 'malformed'],
  ['contract-interaction', { amount: '1' }, '/amount', 'unknown-field'],
  ['erc20-approve', { tokenAddress: undefined }, '/tokenAddress', 'invalid_type'],
  ['erc20-approve', { tokenAddress: null }, '/tokenAddress', 'invalid_type'],
  ['erc20-approve', { tokenAddress: 'USDT' }, '/tokenAddress', 'malformed'],
  ['erc20-approve', { spender: `0x${'0'.repeat(40)}` }, '/spender', 'zero-address'],
  ['erc20-approve', { spender: undefined }, '/spender', 'invalid_type'],
  ['erc20-approve', { amount: '1e18' }, '/amount', 'invalid-amount'],
  ['erc20-approve', { amount: (2n ** 256n).toString() }, '/amount', 'invalid-amount'],
  ['erc20-approve', { chain: 'atlantis' }, '/chain', 'unknown-chain'],
  ['erc20-approve', { note: 'A\u202E' }, '/note', 'custom'],
];

test('every invalid field is named by its pointer, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  const trent = await enter('trent');
  for (const [kind, change, pointer, code] of BAD) {
    const { token } = await anotherToken(trent);
    const body = { vaultId: treasury.id, chain: 'anvil', ...BODIES[kind], ...change };
    const answer = await call(`POST /transaction/${kind}`, { token, body });
    const fault = answer.body['errors']?.[0] ?? {};
    expect([answer.status, fault.pointer, fault.code, answer.body['code']]).toEqual([
      400,
      pointer,
      code,
      'invalid-request',
    ]);
  }
  expect(await stored(treasury)).toEqual(before);
});

test('an allowance of zero revokes an earlier one, and calldata may be in upper case', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const position = { vaultId: treasury.id, chain: 'anvil' };
  const none = await call('POST /transaction/erc20-approve', {
    token,
    body: { ...position, ...BODIES['erc20-approve'], amount: '0' },
  });
  expect([none.status, none.body['amount']]).toEqual([201, '0']);
  const loud = await call('POST /transaction/contract-interaction', {
    token,
    body: { ...position, to: TOKEN, data: '0xD0E30DB0', value: '1' },
  });
  expect([loud.status, loud.body['data'], loud.body['call'].standard]).toEqual([201, '0xd0e30db0', 'WETH9']);
});

test.each(KINDS)('a %s with a repeated Idempotency-Key is created once', async (kind) => {
  const treasury = await foundTreasury();
  const { token } = await anotherToken(treasury.alice);
  const body = { vaultId: treasury.id, chain: 'anvil', ...BODIES[kind] };
  const send = () => call(`POST /transaction/${kind}`, { token, body, headers: { 'idempotency-key': 'key-1' } });
  const [first, second] = [await send(), await send()];
  expect([first.status, second.status, second.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
  expect(second.body).toEqual(first.body);
});

test('one Idempotency-Key for two endpoints is refused', async () => {
  const treasury = await foundTreasury();
  const { token } = await anotherToken(treasury.alice);
  const headers = { 'idempotency-key': 'key-2' };
  const position = { vaultId: treasury.id, chain: 'anvil' };
  await call('POST /transaction/message', { token, body: { ...position, message: 'hello' }, headers });
  const other = await call('POST /transaction/erc20-approve', {
    token,
    body: { ...position, ...BODIES['erc20-approve'] },
    headers,
  });
  expect([other.status, other.body['code']]).toEqual([422, 'idempotency-key-reused']);
});

test.each(KINDS)('only an initiator or signer creates a %s', async (kind) => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  const body = { vaultId: treasury.id, chain: 'anvil', ...BODIES[kind] };
  for (const { token } of [treasury.victor, treasury.mallory]) {
    const answer = await call(`POST /transaction/${kind}`, { token, body });
    expect([answer.status, answer.body['code']]).toEqual([403, 'forbidden']);
    const nowhere = await call(`POST /transaction/${kind}`, { token, body: { ...body, vaultId: 999_999 } });
    expect({ ...nowhere.body, requestId: '' }).toEqual({ ...answer.body, requestId: '' });
  }
  expect(await stored(treasury)).toEqual(before);
});

test('an estimate is refused to a stranger, and reports a missing RPC node to a member', async () => {
  const treasury = await foundTreasury();
  const body = { vaultId: treasury.id, chain: 'anvil', to: RECIPIENT, amount: '1' };
  const estimate = (token: string, differences = {}) =>
    call('POST /transaction/estimate-fee', { token, body: { ...body, ...differences }, env: WITHOUT_NODES });
  expect((await estimate(treasury.mallory.token)).status).toBe(403);
  const { token } = treasury.alice;
  const answer = await estimate(token);
  expect([answer.status, answer.body['code']]).toEqual([503, 'chain-unavailable']);
  expect(answer.headers.get('ratelimit-policy')).toMatch(/^"read"/);
  expect((await estimate(token, { amount: '0' })).body['errors'][0].pointer).toBe('/amount');
  expect((await estimate(token, { note: 'x' })).body['errors'][0].pointer).toBe('/note');
  expect((await estimate(token, { chain: 'ethereum' })).body['code']).toBe('chain-not-enabled');
});
