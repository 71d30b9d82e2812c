import { expect, test } from 'vitest';
import { attemptOf, payment, Wallet } from '../cast.ts';
import { startLyingNode } from '../lying-node.ts';

/**
 * Covers refusals of signed bytes. A node of Solana only forwards bytes, and the same ones are sent
 * again until a status shows them, so no refusal ends a payment.
 */

const SOL = 1_000_000_000n;
const { node, about, lying, liar } = await startLyingNode();

async function signed() {
  liar.follow(() => 'forward');
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, 100n * SOL);
  const intent = payment(wallet.address);
  const quote = await lying().quote(intent, null);
  const anchor = await lying().anchor({ from: wallet.address, nonce: 0n, replaced: null });
  if (!quote.ok || !anchor.ok) throw new Error('the real node is fine');
  const attempt = attemptOf(lying().rules.compose(intent, quote.value, anchor.value));
  const assembled = lying().rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  return assembled.value;
}

const { raw, hash } = await signed();

/** Error messages of Agave, spelled exactly. */
test.each<[number, string, string]>([
  [-32002, 'Transaction simulation failed: This transaction has already been processed', 'accepted'],
  [-32002, 'Transaction simulation failed: Blockhash not found', 'unknown'],
  [
    -32002,
    'Transaction simulation failed: Attempt to debit an account but found no record of a prior credit.',
    'unknown',
  ],
  [-32003, 'Transaction signature verification failure', 'unknown'],
  [-32005, 'Node is behind by 151 slots', 'unknown'],
  [-32005, 'Node is unhealthy', 'unknown'],
  [-32602, 'base64 encoded solana_transaction::versioned::VersionedTransaction too large: 1648 bytes', 'unknown'],
  [-32602, 'failed to deserialize solana_transaction::versioned::VersionedTransaction', 'unknown'],
  [429, 'Too many requests for a specific RPC call', 'unknown'],
])('the code %i with the message %s gives the outcome %s', async (code, message, outcome) => {
  about('sendTransaction', { error: { code, message } });
  const verdict = await lying().broadcast(raw, hash);
  // The text of the node is kept for operators.
  expect(verdict).toEqual(outcome === 'accepted' ? { outcome } : { outcome, answer: message });
});
