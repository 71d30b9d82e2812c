import { expect, test } from 'vitest';
import { contains, isNetwork } from '#domain/access/client-address.ts';

test.each([
  ['192.0.2.0/24', '192.0.2.255', true],
  ['192.0.2.0/24', '192.0.3.0', false],
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '203.0.113.9', true],
  ['10.0.0.0/8', '10.1.0.0/16', true],
  ['10.1.0.0/16', '10.0.0.0/8', false],
  ['192.0.2.0/24', '::ffff:192.0.2.9', true],
  ['2001:db8::/32', '2001:DB8:1:2:3:4:5:6', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:db8::8000/113', '2001:db8::ffff', true],
  ['2001:db8::8000/113', '2001:db8::7fff', false],
  ['192.0.2.0/24', 'local', false],
  ['192.0.2.0/24', '', false],
])('%s contains %s: %s', (network, address, isInside) => {
  expect(contains(network, address)).toBe(isInside);
});

test.each([
  '10.1.0.0/8',
  '2001:db8::1/32',
  '10.0.0.0/33',
  '10.0.0.0/08',
  '::/129',
  '010.0.0.1',
  '10.1',
  '1.2.3.4.5',
  '256.0.0.1',
  'example.com',
  '::1%eth0',
  '',
  '/8',
])('%j is no network', (text) => {
  expect(isNetwork(text)).toBe(false);
});
