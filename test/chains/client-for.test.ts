import { expect, test } from 'vitest';
import { chainsWithOneNode } from '#chains/clients/client-for.ts';
import { rpcEntries, rpcUrlsOf } from '#chains/clients/rpc-urls.ts';

test('a chain with a single configured RPC node is named', () => {
  const urls = { base: ['https://a.test'], ethereum: ['https://a.test', 'https://b.test'], solana: ['https://c.test'] };
  expect(chainsWithOneNode({ RPC_URLS: JSON.stringify(urls) })).toEqual(['base', 'solana']);
  expect(chainsWithOneNode({ RPC_URLS: '{}' })).toEqual([]);
  // A refused entry hides no other chain.
  expect(chainsWithOneNode({ RPC_URLS: JSON.stringify({ ...urls, base: [] }) })).toEqual(['solana']);
  expect(() => chainsWithOneNode({ RPC_URLS: '7' })).toThrow('RPC_URLS');
});

test.each([
  ['no list', '{"base":"https://a.test"}'],
  ['an empty list', '{"base":[]}'],
  ['no URL', '{"base":["a.test"]}'],
  ['no TLS', '{"base":["http://a.test"]}'],
  ['another protocol', '{"base":["ftp://a.test"]}'],
  ['a chain twice', '{"base":["https://a.test"],"base":["https://b.test"]}'],
])('%s is refused without the URL', (_name, RPC_URLS) => {
  const read = () => rpcUrlsOf({ RPC_URLS }, 'base');
  expect(read).toThrow('RPC_URLS');
  expect(read).not.toThrow('a.test');
});

test('the hosts of a chain have neither keys nor user info, and this machine needs no TLS', () => {
  const urls = ['https://me:key@a.test/v2/key?k=key', 'http://127.0.0.1:8545/key'];
  const settings = { RPC_URLS: JSON.stringify({ base: urls }) };
  expect(rpcEntries(settings)).toEqual([{ chain: 'base', hosts: ['a.test', '127.0.0.1:8545'], fault: null }]);
  expect(rpcUrlsOf(settings, 'toString')).toBeNull();
});
