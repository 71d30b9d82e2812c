import fc from 'fast-check';
import { encodeErrorResult, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { redacted, secretsOf } from '#chains/rpc/redact.ts';
import { decodeRevert, revertReason } from '#chains/evm/client/revert.ts';

const NODE = 'https://eth.example.org/v2/k3yk3yk3yk3y?apikey=s3cr3ts3cr3t';

test.each([
  ['a URL', 'request to https://eth.example.org/v2/abc failed', 'request to [address] failed'],
  ['a websocket URL', 'wss://x.example.org/abc closed', '[address] closed'],
  ['a URL with a password', 'at http://user:pass@10.0.0.1:8545/: refused', 'at [address] refused'],
  ['a key of the path by itself', 'key k3yk3yk3yk3y is over its limit', 'key [secret] is over its limit'],
  ['a key of the query by itself', 'bad s3cr3ts3cr3t', 'bad [secret]'],
  ['a second line', 'first\r\n{"event":"forged"}', 'first {"event":"forged"}'],
  ['text that runs backwards', 'paid \u202etxet', 'paid txet'],
  ['a terminal escape', 'a\u001b[31mred', 'a [31mred'],
])('the secret in %s is removed from a record', (_name, text, expected) => {
  expect(redacted(text, secretsOf(NODE))).toBe(expected);
});

test('a redacted text has a maximum length', () => {
  expect(redacted('x'.repeat(1_000_000))).toHaveLength(301);
});

test('a text that is cut inside a surrogate pair is still well formed', () => {
  const text = redacted(`${'x'.repeat(299)}${'\u{1F600}'.repeat(2)}`);
  expect([text.length, text.isWellFormed()]).toEqual([301, true]);
});

test("an RPC node's address and keys are removed from every text", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const text = redacted(`${before}${NODE}${after}`, secretsOf(NODE));
      expect(text).not.toContain('k3yk3y');
      expect(text).not.toContain('s3cr3t');
    }),
  );
});

const abi = parseAbi(['error Error(string)', 'error Panic(uint256)', 'error Blocked(address)']);
const error = (data: `0x${string}` | null, detail = 'execution reverted', code = 3) =>
  ({ kind: 'error-answer', code, detail, data }) as const;

test('a revert is reported with the message of the contract', () => {
  const words = encodeErrorResult({ abi, errorName: 'Error', args: ['not\nyet'] });
  expect(revertReason(error(words))).toBe('not yet');
  const panic = encodeErrorResult({ abi, errorName: 'Panic', args: [0x11n] });
  expect(revertReason(error(panic))).toBe('The contract panicked: arithmetic overflow or underflow.');
  expect(decodeRevert(encodeErrorResult({ abi, errorName: 'Panic', args: [0x99n] }))).toBe(
    'The contract panicked: code 153.',
  );
  const blocked = encodeErrorResult({ abi, errorName: 'Blocked', args: [`0x${'11'.repeat(20)}`] });
  expect(decodeRevert(blocked)).toBe(`The contract reverted with the custom error ${blocked.slice(0, 10)}.`);
  expect(revertReason(error('0x'))).toBe('execution reverted');
  expect(revertReason(error(null, 'execution reverted: paused', -32000))).toBe('execution reverted: paused');
  expect(revertReason(error(null, 'VM execution error.', -32015))).toBe('VM execution error.');
});

test('the error of a faulty RPC node is not reported as a revert', () => {
  expect(revertReason(error(null, 'header not found', -32000))).toBeNull();
  expect(revertReason({ kind: 'no-answer', detail: 'reverted to the proxy' })).toBeNull();
});

test('revert data with a wrong length does not throw', () => {
  expect(decodeRevert(`0x08c379a0${'ff'.repeat(64)}`)).toBe(
    'The contract reverted with an error that cannot be decoded.',
  );
  expect(decodeRevert('0x08c379a0')).toBe('The contract reverted with an error that cannot be decoded.');
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.constantFrom('0x08c379a0', '0x4e487b71', '0x'),
      (bytes, selector) => {
        void decodeRevert(`0x${selector.slice(2)}${Buffer.from(bytes).toString('hex')}`);
      },
    ),
  );
});
