import { expect, test } from 'vitest';
import type { Answer, Treasury } from '../scene.worker.ts';
import { anotherToken, call, changePolicy, coordinator, foundTreasury, WITHOUT_NODES } from '../scene.worker.ts';

/** Covers tokens that a policy names: what is accepted, refused, stored and returned. */

const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const OTHER = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
/** Lists USDC on anvil, and has one RPC node that answers nothing. */
const CHAINS = JSON.stringify([
  { name: 'anvil', tokens: [{ address: USDC, symbol: 'USDC', decimals: 6, isCash: true }] },
]);

const usdc = { chain: 'anvil', tokenAddress: USDC, symbol: 'USDC', decimals: 6 };

async function propose(treasury: Treasury, tokens: readonly object[]): Promise<Answer> {
  const { token } = await anotherToken(treasury.alice);
  const env = { ...WITHOUT_NODES, CHAINS };
  return call(`POST /vault/${treasury.id}/policy-change`, { token, body: { tokens }, env });
}

const faultsOf = ({ status, body }: Answer) => [status, body['errors'] ?? body['code']];

test('a policy names a listed token, and every reader gets it with the chain by name', async () => {
  const treasury = await foundTreasury();
  const proposed = await propose(treasury, [usdc]);
  expect([proposed.status, proposed.body['policy'].tokens]).toEqual([201, [usdc]]);
  expect(proposed.body['policy'].canonical).not.toBe('');
  const { token } = await anotherToken(treasury.victor);
  const { body } = await call(`GET /vault/${treasury.id}/policy`, { token });
  expect(body['policy'].tokens).toBe(null);
});

test.each([
  ['other decimals than the list', [{ ...usdc, decimals: 18 }], '/tokens/0/decimals', '6 decimals'],
  ['the symbol of a listed token', [{ ...usdc, tokenAddress: OTHER }], '/tokens/0/symbol', 'Looks like USDC'],
  ['a look-alike letter', [{ ...usdc, tokenAddress: OTHER, symbol: 'USDС' }], '/tokens/0/symbol', 'Looks like USDC'],
  ['the native symbol', [{ ...usdc, tokenAddress: OTHER, symbol: 'eth' }], '/tokens/0/symbol', 'Looks like ETH'],
  [
    'one symbol twice',
    [
      { ...usdc, tokenAddress: OTHER, symbol: 'ACME' },
      { ...usdc, tokenAddress: '0x52908400098527886E0F7030069857D2E4169EE7', symbol: 'A-CME' },
    ],
    '/tokens/1/symbol',
    'Looks like ACME',
  ],
  ['an empty symbol', [{ ...usdc, symbol: '' }], '/tokens/0/symbol', 'must not be empty'],
  ['a space at the end', [{ ...usdc, symbol: 'USDC ' }], '/tokens/0/symbol', 'no space'],
  ['a mark that changes the direction', [{ ...usdc, symbol: 'A\u202EB' }], '/tokens/0/symbol', 'direction'],
  ['decimals of no token', [{ ...usdc, decimals: 78 }], '/tokens/0/decimals', '77'],
  ['an unknown chain', [{ ...usdc, chain: 'nowhere' }], '/tokens/0/chain', 'not known'],
  ['a wrong checksum', [{ ...usdc, tokenAddress: USDC.replace('A0b', 'a0b') }], '/tokens/0/tokenAddress', 'checksum'],
])('%s is refused with its field', async (_name, tokens, pointer, detail) => {
  const treasury = await foundTreasury();
  const refused = await propose(treasury, tokens);
  expect(refused.status).toBe(400);
  expect(refused.body['errors']).toEqual([
    expect.objectContaining({ pointer, detail: expect.stringContaining(detail) }),
  ]);
});

test('a token twice is refused', async () => {
  const treasury = await foundTreasury();
  expect((await propose(treasury, [usdc, usdc])).status).toBe(400);
});

test('a token whose decimals no RPC node shows is not adopted, neither in a change nor in a new vault', async () => {
  const treasury = await foundTreasury();
  const tokens = [{ ...usdc, tokenAddress: OTHER, symbol: 'ACME' }];
  expect(faultsOf(await propose(treasury, tokens))).toEqual([503, 'chain-unavailable']);
  const operator = await call(`POST /internal/vault/${treasury.id}/policy-change`, {
    token: coordinator.TEST_SERVICE_KEY,
    body: { tokens },
    env: WITHOUT_NODES,
  });
  expect(faultsOf(operator)).toEqual([503, 'chain-unavailable']);
});

test('tokens stay in a policy that changes something else', async () => {
  const treasury = await foundTreasury();
  const weth = { ...usdc, tokenAddress: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', symbol: 'WETH', decimals: 18 };
  await changePolicy(treasury, { tokens: [{ ...weth, chain: 'ethereum' }] });
  await changePolicy(treasury, { unreadableThreshold: 2 });
  const { token } = await anotherToken(treasury.victor);
  const { body } = await call(`GET /vault/${treasury.id}/policy`, { token });
  expect(body['policy'].tokens).toEqual([{ ...weth, chain: 'ethereum' }]);
});
