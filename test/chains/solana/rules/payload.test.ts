import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import type { Address, Instruction } from '@solana/kit';
import {
  AccountRole,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createNoopSigner,
  createTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import {
  getAdvanceNonceAccountInstruction,
  getAuthorizeNonceAccountInstruction,
  getTransferSolInstruction,
  getWithdrawNonceAccountInstruction,
} from '@solana-program/system';
import { getApproveInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { bytesOf, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { inspectSolanaPayload } from '#chains/solana/rules/payload.ts';
import type { Terms } from '#chains/solana/rules/payment-terms.ts';
import { costOf, nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { messageBytes } from '#chains/solana/rules/transaction.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { present } from '../../evm/cast.ts';
import { message, payment, stranger, units, Wallet } from '../cast.ts';

const wallet = new Wallet().address;
const [thief, mint] = [stranger(), stranger()];
const VALUE = stranger();
const native = payment(wallet);
const token = payment(wallet, { tokenAddress: mint, amount: units(2_500_000n) });

const NONCE: Terms = {
  anchor: { kind: 'nonce', nonceSlot: 3, value: VALUE },
  unitLimit: 3_000,
  unitPrice: 50_000n,
  token: null,
};
const OPENING: Terms = {
  ...NONCE,
  anchor: { kind: 'opening', nonceSlot: 3, blockhash: blockhash(VALUE), rent: 1_447_680n },
};
const FOR_TOKENS: Terms = { ...NONCE, token: { decimals: 6, opensAccount: true } };
const FOR_2022: Terms = { ...NONCE, token: { decimals: 6, opensAccount: true, withheld: 25n } };
const withFee = { ...token, maxTokenFee: units(25n) };

const hex = (bytes: Uint8Array | null) => `0x${bytesToHex(present(bytes))}`;
const verdict = (intent: TransferIntent, payload: string) => {
  const inspected = inspectSolanaPayload(intent, payload);
  return inspected.ok ? 'signs' : inspected.refusal;
};

test.each<[string, TransferIntent, Terms]>([
  ['on a nonce', native, NONCE],
  ['opening one', native, OPENING],
  ['of tokens', token, FOR_TOKENS],
  ['of Token-2022 with a fee', withFee, FOR_2022],
  ['of Token-2022 without one', token, { ...NONCE, token: { decimals: 6, opensAccount: false, withheld: 0n } }],
  ['of tokens, opening a nonce', token, { ...OPENING, token: { decimals: 9, opensAccount: false } }],
])('an honest payment %s passes, with its costs and its nonce', (_name, intent, terms) => {
  const payload = hex(messageBytes(intent, terms));
  const inspected = inspectPayload(intent, payload);
  if (!inspected.ok || inspected.value.kind !== 'transaction') throw new Error('it is honest');
  const { signedMessages, maxFee, bid } = inspected.value;
  expect([...signedMessages.map(hex), maxFee, bid.minRisePercent]).toEqual([payload, costOf(terms), 100n]);
  // The identifier includes the account, because several nonce accounts may have the same value.
  const account = bytesOf(nonceAccountOf(wallet, 3));
  const used = terms.anchor.kind === 'nonce' ? sha256(concatBytes(account, bytesOf(VALUE))) : account;
  expect(bid.nonce).toBe(BigInt(hex(used)));
});

test('an opening costs the rent of its account, and every signature costs its fee', () => {
  expect(costOf(NONCE)).toBe(5_000n + 150n);
  expect(costOf({ ...NONCE, unitPrice: 1n })).toBe(5_001n);
  expect(costOf(OPENING)).toBe(5_150n + 1_447_680n);
  expect(costOf(FOR_TOKENS)).toBe(5_150n + 2_039_280n);
  expect(costOf(FOR_2022)).toBe(5_150n + 2_220_240n);
});

/**
 * Builds a message from exactly these instructions, which are those of an honest message except for
 * one fault.
 */
function built(instructions: readonly Instruction[], payer: Address = wallet): string {
  const empty = setTransactionMessageFeePayer(payer, createTransactionMessage({ version: 0 }));
  const lifetime = { blockhash: blockhash(VALUE), lastValidBlockHeight: 0n };
  const full = appendTransactionMessageInstructions(
    instructions,
    setTransactionMessageLifetimeUsingBlockhash(lifetime, empty),
  );
  return hex(Uint8Array.from(getCompiledTransactionMessageEncoder().encode(compileTransactionMessage(full))));
}

const signer = createNoopSigner(wallet);
const nonceAccount = nonceAccountOf(wallet, 3);
const advance = getAdvanceNonceAccountInstruction({ nonceAccount, nonceAuthority: signer });
const limit = getSetComputeUnitLimitInstruction({ units: 3_000 });
const price = getSetComputeUnitPriceInstruction({ microLamports: 50_000n });
const pay = (to: Address, amount: bigint) => getTransferSolInstruction({ source: signer, destination: to, amount });
const honest = pay(native.to as Address, 1_000_000_000n);

test('a message that the test builds by hand passes, so later refusals are due to their one change', () => {
  expect(built([advance, limit, price, honest])).toBe(hex(messageBytes(native, NONCE)));
});

test.each<[string, readonly Instruction[], string]>([
  ['another recipient', [advance, limit, price, pay(thief, 1_000_000_000n)], 'wrong-transfer'],
  ['another amount', [advance, limit, price, pay(native.to as Address, 1_000_000_001n)], 'wrong-transfer'],
  ['a second payment', [advance, limit, price, honest, pay(thief, 1n)], 'wrong-transfer'],
  ['the payment twice', [advance, limit, price, honest, honest], 'wrong-transfer'],
  ['no payment', [advance, limit, price], 'wrong-transfer'],
  ['no nonce: a blockhash that could be any', [limit, price, honest], 'malformed'],
  ['no price', [advance, limit, honest], 'malformed'],
  ['another order', [advance, price, limit, honest], 'malformed'],
  ['the nonce behind', [limit, price, honest, advance], 'malformed'],
  [
    'the nonce account of another wallet',
    [
      getAdvanceNonceAccountInstruction({ nonceAccount: nonceAccountOf(thief, 3), nonceAuthority: signer }),
      limit,
      price,
      honest,
    ],
    'malformed',
  ],
  [
    'a nonce account in a slot that does not exist',
    [
      getAdvanceNonceAccountInstruction({ nonceAccount: nonceAccountOf(wallet, 16), nonceAuthority: signer }),
      limit,
      price,
      honest,
    ],
    'malformed',
  ],
  [
    'the nonce account emptied on the way',
    [
      advance,
      limit,
      price,
      honest,
      getWithdrawNonceAccountInstruction({
        nonceAccount,
        recipientAccount: thief,
        nonceAuthority: signer,
        withdrawAmount: 1n,
      }),
    ],
    'wrong-transfer',
  ],
  [
    'the nonce account given away in between',
    [
      advance,
      limit,
      price,
      honest,
      getAuthorizeNonceAccountInstruction({ nonceAccount, nonceAuthority: signer, newNonceAuthority: thief }),
    ],
    'wrong-transfer',
  ],
  [
    'tokens along with it',
    [
      advance,
      limit,
      price,
      honest,
      getTransferCheckedInstruction({
        source: tokenAccountOf(wallet, mint),
        mint,
        destination: tokenAccountOf(thief, mint),
        authority: signer,
        amount: 1n,
        decimals: 6,
      }),
    ],
    'wrong-transfer',
  ],
  [
    'a delegate along with it',
    [
      advance,
      limit,
      price,
      honest,
      getApproveInstruction({ source: tokenAccountOf(wallet, mint), delegate: thief, owner: signer, amount: 1n }),
    ],
    'malformed',
  ],
  [
    'an unknown program',
    [
      advance,
      limit,
      price,
      honest,
      { programAddress: thief, accounts: [{ address: wallet, role: AccountRole.WRITABLE_SIGNER }] },
    ],
    'wrong-transfer',
  ],
  [
    'more units than the network allows',
    [advance, getSetComputeUnitLimitInstruction({ units: 1_400_001 }), price, honest],
    'units-out-of-range',
  ],
  [
    'a price above the cap',
    [advance, limit, getSetComputeUnitPriceInstruction({ microLamports: 10n ** 10n }), honest],
    'fee-above-cap',
  ],
])('a message with %s is not signed', (_name, instructions, refusal) => {
  expect(verdict(native, built(instructions))).toBe(refusal);
});

test('a message with another fee payer, or for another wallet, is refused', () => {
  expect(verdict(native, built([advance, limit, price, honest], thief))).toBe('wrong-transfer');
});

test.each<[string, Partial<TransferIntent>]>([
  ['recipient', { to: thief }],
  ['amount', { amount: units(999_999_999n) }],
  ['token', { tokenAddress: mint }],
  ['wallet', { from: thief }],
])('the bytes for another %s are refused for the intent', (_name, change) => {
  const payload = hex(messageBytes(native, NONCE));
  expect(verdict({ ...native, ...change }, payload)).not.toBe('signs');
});

test('the bytes of a token transfer have the mint, both accounts, the amount and the decimals', () => {
  const payload = hex(messageBytes(token, FOR_TOKENS));
  expect(verdict(token, payload)).toBe('signs');
  for (const change of [{ tokenAddress: stranger() }, { to: thief }, { amount: units(1n) }, { tokenAddress: null }]) {
    expect(verdict({ ...token, ...change }, payload)).not.toBe('signs');
  }
});

test.each([
  ['0', 'intent-not-canonical'],
  ['+1', 'intent-not-canonical'],
  [7, 'intent-not-canonical'],
  ['24', 'token-fee-above-approved'],
  [undefined, 'token-fee-above-approved'],
  ['25', 'signs'],
])('an intent with a token fee of %s at most gives the verdict %s on bytes with a fee of 25', (maxTokenFee, result) => {
  const intent = Object.assign({}, token, maxTokenFee === undefined ? {} : { maxTokenFee });
  expect(verdict(intent, hex(messageBytes(withFee, FOR_2022)))).toBe(result);
});

test('contract calls and allowances of EVM chains are refused', () => {
  const { kind: _kind, amount: _amount, tokenAddress: _token, ...frame } = native;
  const call = { ...frame, kind: 'contract-interaction', data: '0x00', value: units(1n) } as const;
  const leave = { ...frame, kind: 'erc20-approve', tokenAddress: mint, spender: thief, amount: units(1n) } as const;
  const payload = hex(messageBytes(native, NONCE));
  expect([inspectPayload(call, payload), inspectPayload(leave, payload)]).toEqual([
    { ok: false, refusal: 'unsupported-kind' },
    { ok: false, refusal: 'unsupported-kind' },
  ]);
});

test.each<[string, object]>([
  ['a list in place of the recipient', { to: [native.to] }],
  ['a token account as recipient', { to: tokenAccountOf(thief, mint) }],
  ['an amount with a sign', { amount: '+1000000000' }],
  ['more than 64 bits', { amount: (2n ** 64n).toString() }],
  ['a cap that is no amount', { maxFee: '1e9' }],
  ['a cluster with half a genesis', { chain: 'solana:5eykt4UsFv8P8N' }],
  ['a number for the wallet', { from: 7 }],
  ['a fee of a token that is not paid', { maxTokenFee: '1' }],
])('an intent with %s is invalid', (_name, change) => {
  const payload = hex(messageBytes(native, NONCE));
  expect(inspectSolanaPayload(Object.assign({}, native, change), payload).ok).toBe(false);
});

test('changing, omitting or adding any byte of the message makes it invalid', () => {
  for (const [intent, terms] of [
    [native, NONCE],
    [native, OPENING],
    [token, FOR_TOKENS],
    [withFee, FOR_2022],
  ] as const) {
    const bytes = present(messageBytes(intent, terms));
    const before = inspectSolanaPayload(intent, hex(bytes));
    for (let slot = 0; slot < bytes.length; slot++) {
      const changed = Uint8Array.from(bytes);
      changed[slot] = (changed[slot] ?? 0) ^ 1;
      const after = inspectSolanaPayload(intent, hex(changed));
      // Only the terms may differ: price, units, decimals, the lifetime and the rent. Each is
      // checked and covered by the digest.
      if (!after.ok) continue;
      if (!before.ok) throw new Error('it is honest');
      expect(after.value.signingDigest).not.toEqual(before.value.signingDigest);
      const decoder = getCompiledTransactionMessageDecoder();
      const [one, other] = [decoder.decode(bytes), decoder.decode(changed)];
      expect('staticAccounts' in one && 'staticAccounts' in other && other.staticAccounts).toEqual(
        'staticAccounts' in one && one.staticAccounts,
      );
    }
    expect(verdict(intent, hex(bytes.slice(0, -1)))).not.toBe('signs');
    expect(verdict(intent, hex(Uint8Array.of(...bytes, 0)))).not.toBe('signs');
  }
});

/** The version, three counts, the number of accounts, and six accounts. */
const ACCOUNTS_END = 1 + 3 + 1 + 6 * 32;

test('a random change after the approval never moves anything else than what was approved', () => {
  const bytes = present(messageBytes(native, NONCE));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      (changes) => {
        const changed = Uint8Array.from(bytes);
        for (const [slot, value] of changes) changed[slot] = value;
        const inspected = inspectSolanaPayload(native, hex(changed));
        if (!inspected.ok) return;
        expect(inspected.value.maxFee <= BigInt(native.maxFee)).toBe(true);
        // The message names the same accounts, including the wallet and the recipient, and its last
        // instruction is the payment, to the byte.
        expect(changed.subarray(0, ACCOUNTS_END)).toEqual(bytes.subarray(0, ACCOUNTS_END));
        expect(changed.subarray(-18)).toEqual(bytes.subarray(-18));
      },
    ),
    { numRuns: 3_000 },
  );
});

test.each([
  ['no hex', 'zz'],
  ['capitals', '0XAB'],
  ['half a byte', '0xabc'],
  ['nothing', '0x'],
  ['a text', 'hello'],
])('%s is not accepted as a payload', (_name, payload) => {
  expect(verdict(native, payload)).toBe('malformed');
});

test('an intent that bumps the fee of another transaction is refused on Solana', () => {
  expect(verdict({ ...native, paysFor: 'ab'.repeat(32) }, hex(messageBytes(native, NONCE)))).toBe(
    'intent-not-canonical',
  );
});

test('a message is signed only with its own text, and the bytes of a payment are never a message', () => {
  const hello = message(wallet, 'hello');
  const inspected = inspectPayload(hello, hex(messageBytes(native, NONCE)));
  expect(inspected).toEqual({ ok: false, refusal: 'wrong-message' });
  expect(inspectPayload({ ...hello, format: 'eip191' }, '0x00')).toEqual({
    ok: false,
    refusal: 'intent-not-canonical',
  });
});
