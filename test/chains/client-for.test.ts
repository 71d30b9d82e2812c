import { expect, test } from 'vitest';
import { chainsWithOneNode } from '#chains/clients/client-for.ts';

test('a chain with a single configured RPC node is named', () => {
  const urls = { base: ['https://a.test'], ethereum: ['https://a.test', 'https://b.test'], solana: ['https://c.test'] };
  expect(chainsWithOneNode({ RPC_URLS: JSON.stringify(urls) })).toEqual(['base', 'solana']);
  expect(chainsWithOneNode({ RPC_URLS: '{}' })).toEqual([]);
  expect(() => chainsWithOneNode({ RPC_URLS: '7' })).toThrow('RPC_URLS');
});
