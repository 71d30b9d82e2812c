import { expect, test } from 'vitest';
import type { Treasury } from '../scene.worker.ts';
import { anotherToken, call, coordinator, foundTreasury, payment, RECIPIENT, stored } from '../scene.worker.ts';

/**
 * Covers recipients from which no payment comes back. The inputs are cases of MetaMask #9350,
 * #9673, #12642, 5afe/safe#409 and brave#12959.
 */

const TOKEN = '0x4444444444444444444444444444444444444444';

async function pay(treasury: Treasury, differences: Readonly<Record<string, unknown>>) {
  const { token } = await anotherToken(treasury.alice);
  return call('POST /transaction/transfer', { token, body: payment(treasury, differences) });
}

const codesOf = (body: Readonly<Record<string, unknown>>) =>
  (body['warnings'] as readonly { code: string }[]).map(({ code }) => code);

test('a token to its own contract is refused unless it is acknowledged, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  const own = { to: TOKEN, tokenAddress: TOKEN, amount: '1000000' };
  for (const body of [own, { ...own, to: TOKEN.toLowerCase() }, { ...own, recipientIsToken: false }]) {
    const answer = await pay(treasury, body);
    expect([answer.status, answer.body['code'], answer.body['address']]).toEqual([409, 'recipient-is-token', TOKEN]);
  }
  expect(await stored(treasury)).toEqual(before);
});

test('an acknowledged token to its own contract is created, and every signer sees it in the intent and as a warning', async () => {
  const treasury = await foundTreasury();
  const answer = await pay(treasury, { to: TOKEN, tokenAddress: TOKEN, recipientIsToken: true });
  expect([answer.status, codesOf(answer.body), answer.body['requiredApprovals']]).toEqual([
    201,
    ['recipient-is-token'],
    2,
  ]);
  const challenge = await call(`GET /transaction/${answer.body['id']}/challenge`, { token: treasury.bob.token });
  expect([challenge.body['intent'].recipientIsToken, codesOf(challenge.body)]).toEqual([true, ['recipient-is-token']]);
});

test('an acknowledgement for another recipient is no part of the intent', async () => {
  const treasury = await foundTreasury();
  for (const body of [
    { to: RECIPIENT, tokenAddress: TOKEN, recipientIsToken: true },
    { to: TOKEN, recipientIsToken: true },
  ]) {
    const answer = await pay(treasury, body);
    expect([answer.status, codesOf(answer.body)]).toEqual([201, []]);
    const challenge = await call(`GET /transaction/${answer.body['id']}/challenge`, { token: treasury.bob.token });
    expect(challenge.body['intent']).not.toHaveProperty('recipientIsToken');
  }
  const bad = await pay(treasury, { to: TOKEN, tokenAddress: TOKEN, recipientIsToken: 'yes' });
  expect([bad.status, bad.body['errors'][0].pointer]).toEqual([400, '/recipientIsToken']);
});

test('an estimate accepts the acknowledgement as the creation does', async () => {
  const treasury = await foundTreasury();
  const estimate = (body: object) =>
    call('POST /transaction/estimate-fee', {
      token: treasury.alice.token,
      body: { vaultId: treasury.id, chain: 'anvil', to: TOKEN, tokenAddress: TOKEN, amount: '1', ...body },
    });
  const refused = await estimate({});
  expect([refused.status, refused.body['code']]).toEqual([409, 'recipient-is-token']);
  expect((await estimate({ recipientIsToken: true })).status).toBe(200);
});

test.each([
  ['a burn address', { to: '0x000000000000000000000000000000000000dEaD', tokenAddress: TOKEN, amount: '1' }, 'burn'],
  ['a precompile', { to: '0x0000000000000000000000000000000000000001', amount: '1' }, 'system'],
])('a payment to %s is created with a warning', async (_name, body, kind) => {
  const treasury = await foundTreasury();
  const answer = await pay(treasury, body);
  expect([answer.status, codesOf(answer.body)]).toEqual([201, [`recipient-is-${kind}-address`]]);
});

test('an allowance for the token itself, and a transfer to the called contract, are created with a warning', async () => {
  const treasury = await foundTreasury();
  const { token } = await anotherToken(treasury.alice);
  const base = { vaultId: treasury.id, chain: 'anvil' };
  const allowance = { ...base, tokenAddress: TOKEN, spender: TOKEN, amount: '1' };
  const approved = await call('POST /transaction/erc20-approve', { token, body: allowance });
  expect([approved.status, codesOf(approved.body)]).toEqual([201, ['spender-is-token']]);
  const data = `0xa9059cbb${TOKEN.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
  const interaction = { ...base, to: TOKEN, data, value: '0' };
  const called = await call('POST /transaction/contract-interaction', { token, body: interaction });
  expect([called.status, codesOf(called.body)]).toEqual([201, ['recipient-is-token']]);
});

test('a token to the contract of another listed token is created with a warning, also in the challenge', async () => {
  const treasury = await foundTreasury({ chains: ['anvil', 'ethereum'] });
  const [usdc, usdt] = ['0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', '0xdAC17F958D2ee523a2206206994597C13D831ec7'];
  const env = { ...coordinator, RPC_URLS: JSON.stringify({ ethereum: ['https://node-of-the-tests.test/1'] }) };
  const body = payment(treasury, { chain: 'ethereum', to: usdt, tokenAddress: usdc, amount: '1' });
  const answer = await call('POST /transaction/transfer', { token: treasury.alice.token, body, env });
  expect([answer.status, codesOf(answer.body)]).toEqual([201, ['recipient-is-other-token']]);
  const challenge = await call(`GET /transaction/${answer.body['id']}/challenge`, { token: treasury.bob.token });
  expect(codesOf(challenge.body)).toEqual(['recipient-is-other-token']);
});
