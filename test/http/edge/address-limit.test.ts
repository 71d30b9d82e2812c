import { expect, test } from 'vitest';
import { limitKeyOf } from '#http/edge/address-limit.ts';

test.each([
  ['2001:db8::7', '2001:db8:0:0::/64'],
  ['2001:db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
  ['2001:0DB8:0000:0000:0001::', '2001:db8:0:0::/64'],
  ['2001:db8::1.2.3.4', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::7', '2001:db8:0:1::/64'],
  ['2001:db8:1::', '2001:db8:1:0::/64'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
  ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
  ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['fe80::', 'fe80:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('the IPv6 address %s counts for its network %s', (address, key) => {
  expect(limitKeyOf(address)).toBe(key);
});

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:c000:0201', '192.0.2.1'],
  ['0:0:0:0:0:ffff:192.0.2.255', '192.0.2.255'],
  ['::ffff:192.0.2.2', '192.0.2.2'],
])('the IPv4 address %s counts as %s', (address, key) => {
  expect(limitKeyOf(address)).toBe(key);
});

test.each(['local', '', ':::', '1:2:3:4:5:6:7:8:9', '2001:db8::g', '::1]/x', '2001:db8::7%eth0', '1::2::3', '12345::'])(
  'the text %s, which is no address, is its own key',
  (text) => {
    expect(limitKeyOf(text)).toBe(text);
  },
);

test('a key has a maximum length', () => {
  expect(limitKeyOf('x'.repeat(100_000))).toHaveLength(64);
  expect(limitKeyOf('1:'.repeat(100_000))).toHaveLength(64);
});
