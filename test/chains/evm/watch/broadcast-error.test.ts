import fc from 'fast-check';
import { expect, test } from 'vitest';
import { classifyBroadcastError } from '#chains/evm/watch/broadcast-error.ts';

const SERVER_ERROR = -32000;

/** Error messages of real clients, spelled exactly. */
test.each<[string, string, string]>([
  ['geth', 'already known', 'known'],
  ['geth, old', 'known transaction: 0xa23b52004fe574000765fbe20a311b2785a318c9dbe6b0bf6a4c1f8936f57ff3', 'known'],
  ['nethermind', 'AlreadyKnown', 'known'],
  ['nethermind', 'OwnNonceAlreadyUsed', 'known'],
  ['besu', 'Known transaction', 'known'],
  ['besu', 'Unknown transaction', 'unknown'],
  ['anvil', 'transaction already imported', 'known'],
  ['parity', 'Transaction with the same hash was already imported.', 'known'],
  ['openethereum', 'Pool(AlreadyImported)', 'known'],
  ['geth', 'nonce too low: next nonce 5, tx nonce 4', 'nonce-too-low'],
  ['geth', 'err: nonce too low', 'nonce-too-low'],
  ['nethermind', 'OldNonce, Current nonce: 5, nonce of rejected tx: 4', 'nonce-too-low'],
  ['besu', 'Nonce too low', 'nonce-too-low'],
  ['parity', 'Transaction nonce is too low. Try incrementing the nonce.', 'nonce-too-low'],
  ['arbitrum', 'invalid transaction nonce', 'nonce-too-low'],
  ['zkSync', 'nonce too low. allowed nonce range: 5 - 10. actual: 4', 'nonce-too-low'],
  ['geth', 'nonce too high: address 0x5aAe, tx: 9 state: 4', 'nonce-gap'],
  ['nethermind', 'NonceGap, Future nonce. Expected nonce: 4', 'nonce-gap'],
  ['besu', 'nonce too far in the future', 'nonce-gap'],
  ['erigon', 'transaction nonce exceeds next nonce', 'nonce-gap'],
  ['geth', 'replacement transaction underpriced', 'underpriced'],
  ['besu', 'Replacement transaction underpriced', 'underpriced'],
  ['parity', 'There is another transaction with same nonce in the queue.', 'underpriced'],
  ['geth', 'transaction underpriced: gas tip cap 0, minimum needed 1', 'underpriced'],
  ['geth', 'transaction gas price below minimum', 'underpriced'],
  ['besu', 'Gas price below configured minimum gas price', 'underpriced'],
  ['anvil', 'max fee per gas less than block base fee', 'underpriced'],
  ['geth', 'max fee per gas less than block base fee: address 0x5aAe, maxFeePerGas: 1, baseFee: 7', 'underpriced'],
  ['nethermind', 'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1', 'underpriced'],
  ['nethermind', 'FeeTooLowToCompete', 'underpriced'],
  ['erigon', 'could not replace existing tx', 'underpriced'],
  ['erigon', 'fee too low', 'underpriced'],
  ['nethermind, old', 'ReplacementNotAllowed', 'underpriced'],
  ['celo', 'gasprice is less than gas price minimum floor', 'underpriced'],
  ['geth', 'insufficient funds for gas * price + value: address 0x5aAe have 0 want 1', 'funds'],
  ['geth', 'insufficient funds for transfer', 'funds'],
  ['geth', 'transaction would cause overdraft', 'funds'],
  ['anvil', 'Insufficient funds for gas * price + value', 'funds'],
  ['nethermind', 'InsufficientFunds, Balance is 0 less than sending value + gas 1', 'funds'],
  ['besu', 'Upfront cost exceeds account balance', 'funds'],
  ['arbitrum', 'not enough funds for gas', 'funds'],
  ['geth', 'exceeds block gas limit', 'fatal'],
  ['geth', 'intrinsic gas too low: gas 20000, minimum needed 21000', 'fatal'],
  ['anvil', 'intrinsic gas too high -- CallGasCostMoreThanGasLimit', 'fatal'],
  ['besu', 'Intrinsic gas exceeds gas limit', 'fatal'],
  ['geth', 'invalid sender', 'fatal'],
  ['geth', 'oversized data', 'fatal'],
  ['geth', 'tx fee (1.50 ether) exceeds the configured cap (1.00 ether)', 'fatal'],
  ['geth', 'invalid chain id for signer: have 1 want 31337', 'fatal'],
  ['geth', 'transaction gas limit too high (cap: 16777216, tx: 17576254)', 'fatal'],
  ['geth', 'insufficient gas for floor data gas cost: gas 21000, minimum needed 41000', 'fatal'],
  ['geth', 'sender not an eoa: address 0x5aAe, codehash: 0x1234', 'fatal'],
  ['bsc', 'sender or to in black list', 'fatal'],
  ['besu', 'Transaction fee cap exceeded', 'fatal'],
  ['nethermind', 'Invalid', 'fatal'],
  ['nethermind', 'Invalid, Transaction is not valid', 'fatal'],
  ['nethermind', 'GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2', 'fatal'],
  ['erigon', 'ALREADY_EXISTS: existing txn with same hash', 'known'],
  ['erigon, old', 'existing tx with same hash', 'known'],
  ['erigon', 'INVALID: initcode too large', 'fatal'],
  ['erigon', 'INTERNAL_ERROR: IntrinsicGas', 'fatal'],
  ['erigon', 'INTERNAL_ERROR: gas limit is too high', 'fatal'],
  ['erigon', 'INTERNAL_ERROR: RLPTooLong', 'fatal'],
  ['erigon', 'INTERNAL_ERROR: nonce too low', 'nonce-too-low'],
  ['erigon', 'INTERNAL_ERROR: pending sub-pool is full', 'unknown'],
  ['geth', 'gapped-nonce tx from delegated accounts', 'nonce-gap'],
  ['geth', 'max priority fee per gas higher than max fee per gas: address 0x5aAe', 'fatal'],
  ['geth', 'max initcode size exceeded: code size 60000, limit 49152', 'fatal'],
  ['geth', 'transaction type not supported', 'fatal'],
  ['reth', 'gas uint64 overflow', 'fatal'],
  ['reth', 'sender is not an EOA', 'fatal'],
  ['nethermind', 'nonce too far in future', 'nonce-gap'],
  ['nethermind', 'delegation nonce gap', 'nonce-gap'],
  ['nethermind', 'NonceTooFarInFuture', 'nonce-gap'],
  ['nethermind', 'gas limit reached, Gas limit: 1, gas limit of rejected tx: 2', 'fatal'],
  ['nethermind', 'failed to recover sender', 'fatal'],
  ['nethermind', 'transaction cost overflow', 'fatal'],
  ['nethermind', 'transaction invalid, InvalidTxSignature: signature is invalid.', 'fatal'],
  ['nethermind', 'transaction too large', 'fatal'],
  ['nethermind', 'unsupported transaction type', 'fatal'],
  ['nethermind', 'SenderIsContract', 'fatal'],
  // The next ones pass with time: the pool, the node or another transaction of the account.
  ['a sequencer', 'gas limit reached', 'unknown'],
  ['geth', 'in-flight transaction limit reached for delegated accounts', 'unknown'],
  ['geth', 'account limit exceeded', 'unknown'],
  ['geth', 'address already reserved', 'unknown'],
  ['geth', 'future transaction tries to replace pending', 'unknown'],
  ['nethermind', 'delegation authority has pending transaction', 'unknown'],
  ['nethermind', 'pending transaction type conflict', 'unknown'],
  ['nethermind', 'node is syncing', 'unknown'],
  ['geth', 'txpool is full', 'unknown'],
  ['a gateway', 'Invalid Request', 'unknown'],
  ['a gateway', 'service unavailable', 'unknown'],
  ['a gateway', 'header not found', 'unknown'],
  ['a gateway', '', 'unknown'],
])('a message of %s is classified: %s', (_client, message, expected) => {
  expect(classifyBroadcastError(message, SERVER_ERROR)).toBe(expected);
  expect(classifyBroadcastError(`  ${message.toUpperCase()} `, SERVER_ERROR)).toBe(expected);
});

test('bytes that do not decode are refused by their code alone', () => {
  expect(classifyBroadcastError('failed to decode signed transaction', -32602)).toBe('fatal');
  expect(classifyBroadcastError('already known', -32602)).toBe('known');
});

test('no message makes the classification throw or take long', () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 2000 }),
      fc.integer(),
      (words, code) => void classifyBroadcastError(words, code),
    ),
  );
  const started = performance.now();
  classifyBroadcastError('nonce '.repeat(100_000), SERVER_ERROR);
  expect(performance.now() - started).toBeLessThan(1000);
});
