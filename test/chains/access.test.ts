import { expect, test } from 'vitest';
import { singleNodeChains } from '#chains/access.ts';

test('a chain whose payments rest on the word of one node is named', () => {
  const urls = { base: ['https://a.test'], ethereum: ['https://a.test', 'https://b.test'], solana: ['https://c.test'] };
  expect(singleNodeChains({ RPC_URLS: JSON.stringify(urls) })).toEqual(['base', 'solana']);
  expect(singleNodeChains({ RPC_URLS: '{}' })).toEqual([]);
  expect(() => singleNodeChains({ RPC_URLS: '7' })).toThrow('RPC_URLS');
});
