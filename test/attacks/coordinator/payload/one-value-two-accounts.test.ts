/**
 * Attack: two nonce accounts of a Solana wallet have the same value, and the coordinator has one
 *   payment signed at both, so that both are executed.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.3
 * Defence: co-signers identify the nonce of an attempt by its nonce account together with its
 *   value.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import { blockhash, getAddressDecoder, getTransactionDecoder, lamports } from '@solana/kit';
import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import { describe, expect, test } from 'vitest';
import { storedNonce } from '#chains/solana/client/accounts.ts';
import { inspectSolanaPayload } from '#chains/solana/rules/payload.ts';
import { type DurableNonce, nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { localCluster } from '../../../chains/solana/cast.ts';
import { present } from '../../../chains/evm/cast.ts';
import { amount, transferIntent } from '../../../domain/cast.ts';
import { memorySql } from '../../../objects/memory-sql.ts';

const secret = ed25519.utils.randomSecretKey();
const wallet = getAddressDecoder().decode(ed25519.getPublicKey(secret));
const to = getAddressDecoder().decode(ed25519.getPublicKey(ed25519.utils.randomSecretKey()));
const intent: TransferIntent = {
  ...transferIntent(),
  chain: localCluster().caip2,
  from: wallet,
  to,
  amount: amount('1000000000'),
  maxFee: amount('20000000'),
};

function bytesAt(anchor: DurableNonce, of: TransferIntent = intent): Uint8Array {
  return present(messageBytes(of, { anchor, unitLimit: 100_000, unitPrice: 0n, token: null }));
}

describe('on the chain', () => {
  const svm = new LiteSVM();
  svm.airdrop(wallet, lamports(10_000_000_000n));
  const send = (bytes: Uint8Array) => {
    const wire = concatBytes(Uint8Array.of(1), ed25519.sign(bytes, secret), bytes);
    const sent = svm.sendTransaction(getTransactionDecoder().decode(wire));
    return sent instanceof FailedTransactionMetadata ? 'failed' : 'paid';
  };
  const valueAt = (nonceSlot: number) => {
    const { exists, ...found } = svm.getAccount(nonceAccountOf(wallet, nonceSlot));
    if (!exists) throw new Error('the account was opened');
    const {
      lamports: held,
      programAddress: owner,
      data,
    } = found as { lamports: bigint; programAddress: string; data: Uint8Array };
    return present(storedNonce({ lamports: held, owner, data: Uint8Array.from(data), isExecutable: false } as never))
      .value;
  };

  test('nonce accounts opened in one slot have the same value, and payments at both are executed', () => {
    const opening = { blockhash: blockhash(svm.latestBlockhash()), rent: svm.minimumBalanceForRentExemption(80n) };
    const small = { ...intent, amount: amount('2000000') };
    for (const nonceSlot of [0, 1])
      expect(send(bytesAt({ kind: 'opening', nonceSlot, ...opening }, small))).toBe('paid');
    const value = valueAt(0);
    expect(valueAt(1)).toBe(value);
    svm.expireBlockhash();
    expect([0, 1].map((nonceSlot) => send(bytesAt({ kind: 'nonce', nonceSlot, value })))).toEqual(['paid', 'paid']);
  });
});

test('a co-signer that has signed at one nonce account signs no attempt at another one with the same value', () => {
  const value = getAddressDecoder().decode(ed25519.getPublicKey(ed25519.utils.randomSecretKey()));
  const storage = new CosignerStorage(memorySql());
  const attempt = (number: number, nonceSlot: number) => {
    const inspected = inspectSolanaPayload(intent, `0x${bytesToHex(bytesAt({ kind: 'nonce', nonceSlot, value }))}`);
    if (!inspected.ok) throw new Error(inspected.refusal);
    const { bid, signedMessages, signingDigest } = inspected.value;
    const checked = { purpose: 'intent', intentDigest: 'ab'.repeat(32), signedMessages, signingDigest, bid } as const;
    const written = storage.signed.signOnce(intent.transactionId, number, { ...checked, record: true });
    return written.ok ? 'signs' : written.refusal.code;
  };
  expect(attempt(1, 0)).toBe('signs');
  expect(attempt(2, 1)).toBe('second-digest');
  expect(attempt(1, 1)).toBe('second-digest');
});
