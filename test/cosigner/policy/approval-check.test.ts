import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { bitcoinRules } from '#chains/bitcoin/rules/chain-rules.ts';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { composeMessage, composeTransaction } from '#chains/evm/rules/compose.ts';
import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { checkRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { newTransactionId, parseVaultId } from '#domain/id.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt, signingEndsAtMs } from '#domain/transaction/intent.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Approval } from '#domain/access/approval.ts';
import { BTC, localNetwork, payment, REGTEST, regtest, sourceOf } from '../../chains/bitcoin/cast.ts';
import { alice, amount, bob, carol, mallory, messageIntent, NOON_MS, policy } from '../../domain/cast.ts';
import { present } from '../../chains/evm/cast.ts';
import { answer, digestOf, intent, next, OTHER, pinned, QUOTE, request, approvalsBy, WALLET } from './check-scene.ts';

/**
 * Tests the decision of one co-signer, which uses only the request and the data that it has pinned.
 */

test('an intent with a quorum is signed, and the co-signer computes the digest, nonce and fees by itself', async () => {
  const checked = await checkRequest(request(), pinned);
  if (!checked.ok) throw new Error(checked.refusal.code);
  const { intentDigest, signingDigest, bid } = checked.value;
  expect(intentDigest).toBe(digestOf(intent));
  expect(`0x${bytesToHex(signingDigest)}`).toBe(composeTransaction(intent, QUOTE, 4n).signingDigest);
  expect(bid).toEqual({ nonce: 4n, maxFee: 2000n, maxTip: 1000n, minRisePercent: 110n });
});

test('the same request gets the same answer, because the check keeps no state', async () => {
  expect(await checkRequest(request(), pinned)).toEqual(await checkRequest(request(), pinned));
});

describe('approvals', () => {
  test.each<[string, readonly Approval[]]>([
    ['no approval', []],
    ['one of two', approvalsBy(intent, alice)],
    ['one person twice', approvalsBy(intent, alice, alice)],
    ['one person with two tokens', approvalsBy(intent, alice, { ...alice, tokenId: bob.tokenId })],
    ['an outsider as the second', approvalsBy(intent, alice, mallory)],
    ['outsiders only', approvalsBy(intent, mallory, mallory)],
    ['an approval of another transfer', [...approvalsBy(intent, alice), ...approvalsBy({ ...intent, to: OTHER }, bob)]],
    [
      'a digest in capitals',
      approvalsBy(intent, alice, bob).map((approval) => ({ ...approval, digest: approval.digest.toUpperCase() })),
    ],
    ['an empty digest', approvalsBy(intent, alice, bob).map((approval) => ({ ...approval, digest: '' }))],
  ])('%s is not enough', async (_name, approvals) => {
    expect(await answer(request({ approvals }))).toBe('not-enough-approvals');
  });

  test('any two signers are enough, in any order and among duplicate and foreign approvals', async () => {
    for (const pair of [
      [alice, bob],
      [carol, alice],
      [bob, carol],
    ])
      expect(await answer(request({ approvals: approvalsBy(intent, mallory, ...pair, mallory, ...pair) }))).toBe(
        'signs',
      );
  });
});

describe('the approvals cover every field of the intent', () => {
  const changes: readonly Partial<TransferIntent>[] = [
    { transactionId: newTransactionId(intent.vaultId, intent.createdAtMs, new Uint8Array(10).fill(6)) },
    { to: OTHER },
    { tokenAddress: OTHER },
    { amount: amount('1001') },
    { maxFee: amount('42000001') },
    { note: 'urgent' },
    { note: '' },
    { chain: 'eip155:1' },
    { createdAtMs: intent.createdAtMs + 1 },
    { expiresAtMs: intent.expiresAtMs + 1 },
  ];
  test.each(changes.map((change) => [Object.keys(change).join(), change] as const))(
    'an intent whose %s changed after the approvals is not approved',
    async (_name, change) => {
      const changed = { ...intent, ...change };
      expect(await answer(request({ approvals: approvalsBy(intent, alice, bob) }, changed))).toBe(
        'not-enough-approvals',
      );
    },
  );
});

test('an intent to an accepted lookalike address needs one approval more than the threshold', async () => {
  const risky = { ...intent, lookalikeOf: OTHER };
  expect(await answer(request({}, risky))).toBe('not-enough-approvals');
  expect(await answer(request({ approvals: approvalsBy(risky, alice, bob, carol) }, risky))).toBe('signs');
});

describe('the wallet and the policy are those that were pinned with the key', () => {
  const eight = parseVaultId(8);
  if (eight === null) throw new Error('the cast must parse');

  test('an intent of another vault, or of a wallet that is not of this key, is refused before approvals are counted', async () => {
    expect(await answer(request({}, { ...intent, vaultId: eight }))).toBe('wrong-wallet');
    expect(await answer(request({}, { ...intent, from: OTHER }))).toBe('wrong-wallet');
    expect(await answer(request(), { wallet: WALLET.replace('0x11', '0xAA') })).toBe('wrong-wallet');
  });

  test('a policy that the co-signer has not adopted, or another policy with the same version, is refused', async () => {
    const strange = { ...policy, threshold: 1 };
    expect(await answer(request({}, { ...intent, policyVersion: 2 }))).toBe('policy-mismatch');
    expect(await answer(request({}, { ...intent, policyVersion: 0 }))).toBe('policy-mismatch');
    expect(await answer(request({}, { ...intent, policyHash: policyHashOf(strange) }))).toBe('policy-mismatch');
  });

  test('a co-signer with an older policy requests the newer policy, and states its own version', async () => {
    expect(await answer(request({ policyVersion: 2 }))).toBe('policy-behind 1');
  });
});

describe('a policy that changed after the approvals', () => {
  const stricter = next(policy, { threshold: 3 });
  const looser = next(policy, { threshold: 1 });
  const withoutBob = next(policy, { signers: [alice.userId, carol.userId] });

  test('a raised threshold needs the additional approval', async () => {
    const policies = [policy, stricter];
    expect(await answer(request(), { policies })).toBe('not-enough-approvals');
    expect(await answer(request({ approvals: approvalsBy(intent, alice, bob, carol) }), { policies })).toBe('signs');
  });

  test('a lowered threshold approves no intent that was created under the former policy', async () => {
    const policies = [policy, looser];
    expect(await answer(request({ approvals: approvalsBy(intent, alice) }), { policies })).toBe('not-enough-approvals');
    expect(await answer(request(), { policies })).toBe('signs');
  });

  test('an approval of a former signer never counts; an approval of a remaining signer counts', async () => {
    const policies = [policy, withoutBob];
    expect(await answer(request(), { policies })).toBe('not-enough-approvals');
    expect(await answer(request({ approvals: approvalsBy(intent, alice, carol) }), { policies })).toBe('signs');
  });

  test('a coordinator that hides the newer version from a co-signer that has it gains nothing', async () => {
    expect(await answer(request({ policyVersion: 0 }), { policies: [policy, stricter] })).toBe('policy-ahead 2');
  });
});

describe('a cancellation', () => {
  const undone = composeTransaction(actionOfAttempt(intent, 'cancellation'), QUOTE, 4n).payload;
  const cancels = (differences: Partial<SigningRequest> = {}) =>
    request({ payload: undone, attempt: 2, purpose: 'cancellation', ...differences });

  test('a cancellation pays zero to the wallet itself, and needs the approvals of the intent that it cancels', async () => {
    expect(await answer(cancels())).toBe('signs');
    expect(await answer(cancels({ approvals: approvalsBy(intent, alice) }))).toBe('not-enough-approvals');
  });

  test('a cancellation is signed for thirty days after the payment has expired, to the millisecond', async () => {
    const endsAtMs = signingEndsAtMs(intent) + 30 * 24 * 60 * 60 * 1000;
    expect(await answer(request(), { nowMs: signingEndsAtMs(intent) })).toBe('expired');
    expect(await answer(cancels(), { nowMs: endsAtMs - 1 })).toBe('signs');
    expect(await answer(cancels(), { nowMs: endsAtMs })).toBe('expired');
  });

  test('a cancellation cannot be the payment, pay another address, or pay a single wei', async () => {
    const other = (change: Partial<TransferIntent>) =>
      composeTransaction({ ...intent, to: WALLET, amount: amount('0'), ...change }, QUOTE, 4n).payload;
    const dear = { ...QUOTE, gasLimit: '21001', maxFee: amount('42002000') };
    expect(await answer(cancels({ payload: other({}) }))).toBe('signs');
    expect(await answer(cancels({ payload: request().payload }))).toBe('payload-refused wrong-recipient');
    expect(await answer(cancels({ payload: other({ to: OTHER }) }))).toBe('payload-refused wrong-recipient');
    expect(await answer(cancels({ payload: other({ amount: amount('1') }) }))).toBe('payload-refused wrong-value');
    expect(await answer(cancels({ payload: other({ tokenAddress: WALLET }) }))).toBe('payload-refused wrong-data');
    const rich = { ...intent, to: WALLET, amount: amount('0'), maxFee: amount('9'.repeat(30)) };
    const costly = composeTransaction(rich, dear, 4n).payload;
    expect(await answer(cancels({ payload: costly }))).toBe('payload-refused fee-above-cap');
    // The bytes of a cancellation are not signed as the intent either.
    expect(await answer(request({ payload: undone }))).toBe('payload-refused wrong-recipient');
  });

  test('a cancellation of a recorded transaction is signed although the current policy would refuse the transaction', async () => {
    const closed = next(policy, { rules: { ...NO_RULES, recipients: 'address-book' } });
    const withoutBob = next(policy, { signers: [alice.userId, carol.userId] });
    const isRecorded = (id: string, digest: string) => id === intent.transactionId && digest === digestOf(intent);
    for (const now of [closed, withoutBob, next(policy, { threshold: 3 })]) {
      const policies = [policy, now];
      expect(await answer(request(), { policies, isRecorded })).not.toBe('signs');
      expect(await answer(cancels(), { policies, isRecorded })).toBe('signs');
    }
  });

  test('a cancellation without a record is judged by the signers, the threshold and the rules of the current policy', async () => {
    const closed = next(policy, { rules: { ...NO_RULES, recipients: 'address-book' } });
    const withoutBob = next(policy, { signers: [alice.userId, carol.userId] });
    const stricter = next(policy, { threshold: 3 });
    for (const now of [withoutBob, stricter]) {
      expect(await answer(cancels(), { policies: [policy, now] })).toBe('not-enough-approvals');
    }
    // The cancellation pays the wallet itself, so the address-book rule does not forbid it.
    expect(await answer(cancels(), { policies: [policy, closed] })).toBe('signs');
    const all = approvalsBy(intent, alice, bob, carol);
    expect(await answer(cancels({ approvals: all }), { policies: [policy, stricter] })).toBe('signs');
  });

  test('a cancellation is judged by the policy of its intent only when that very intent is recorded for the transaction', async () => {
    const withoutBob = next(policy, { signers: [alice.userId, carol.userId] });
    const isRecorded = (_id: string, digest: string) => digest === 'ab'.repeat(32);
    expect(await answer(cancels(), { policies: [policy, withoutBob], isRecorded })).toBe('not-enough-approvals');
  });

  test('a message has no cancellation', async () => {
    expect(await answer({ ...messageRequest(), purpose: 'cancellation' })).toBe('payload-refused wrong-message');
  });
});

const message = { ...messageIntent(), policyHash: policyHashOf(policy) };

function messageRequest(): SigningRequest {
  const { payload } = composeMessage(message);
  return { ...request(), intent: message, payload, approvals: approvalsBy(message, alice, bob) };
}

test('a message is signed as approved, and has no account nonce and no fees', async () => {
  const checked = await checkRequest(messageRequest(), pinned);
  if (!checked.ok) throw new Error(checked.refusal.code);
  const { purpose, intentDigest, signingDigest, bid } = checked.value;
  expect({ purpose, intentDigest, bid }).toEqual({ purpose: 'intent', intentDigest: digestOf(message), bid: null });
  expect(`0x${bytesToHex(signingDigest)}`).toBe(composeMessage(message).signingDigest);
  expect(await answer({ ...messageRequest(), payload: request().payload })).toBe('payload-refused wrong-message');
});

test('the amounts of UTXOs are read from the transactions that created them, and without those nothing is signed', async () => {
  const publicKey = secp256k1.getPublicKey(secp256k1.utils.randomSecretKey());
  const from = present(addressOn(REGTEST, 'ecdsa-secp256k1', publicKey));
  const bitcoin = payment(from, { vaultId: policy.vaultId, policyVersion: 1, policyHash: policyHashOf(policy) });
  const { raw, utxo } = sourceOf(present(scriptOf(regtest, from)), 2n * BTC);
  const { payload } = bitcoinRules(localNetwork()).compose(
    bitcoin,
    { terms: { utxos: [utxo], change: BTC - 1_000n }, maxFee: bitcoin.maxFee },
    0n,
  );
  const requested: SigningRequest = {
    ...request(),
    intent: bitcoin,
    payload,
    approvals: approvalsBy(bitcoin, alice, bob),
  };
  const send = (evidence: readonly string[]) => answer({ ...requested, evidence }, { wallet: from });
  expect(await send([raw])).toBe('signs');
  for (const evidence of [[], ['00'], [sourceOf(present(scriptOf(regtest, from)), 2n * BTC).raw]]) {
    expect(await send(evidence)).toBe('payload-refused unproven');
  }
});

describe('rules', () => {
  const native = { chain: intent.chain, tokenAddress: null };
  const closed = { ...NO_RULES, recipients: 'address-book' } as const;
  const steps = { ...NO_RULES, higherThresholds: [{ ...native, above: amount('999'), threshold: 3 }] };
  const small = { ...NO_RULES, limits: [{ ...native, perTransaction: amount('999'), perDay: null }] };

  /**
   * Returns the answer of a co-signer whose pinned policy has these rules, to an intent that names
   * this policy.
   */
  function under(rules: Rules, differences: Partial<SigningRequest> = {}): Promise<string> {
    const strict = { ...policy, rules };
    const named = { ...intent, policyHash: policyHashOf(strict) };
    return answer(
      request({ ...differences, approvals: differences.approvals ?? approvalsBy(named, alice, bob) }, named),
      {
        policies: [strict],
      },
    );
  }

  test('a recipient outside the address book, or an amount above its limit, is not signed', async () => {
    expect(await under(closed)).toBe('policy-forbids address-book');
    expect(await under(small)).toBe('policy-forbids per-transaction');
    expect(await under({ ...closed, addressBook: [{ chain: intent.chain, address: intent.to, name: 'Bob' }] })).toBe(
      'signs',
    );
  });

  test('the co-signer requires the higher threshold for a large amount, whatever the coordinator counted', async () => {
    expect(await under(steps)).toBe('not-enough-approvals');
    const strict = { ...policy, rules: steps };
    const named = { ...intent, policyHash: policyHashOf(strict) };
    expect(await under(steps, { approvals: approvalsBy(named, alice, bob, carol) })).toBe('signs');
  });

  test('the rules of both the policy of the intent and the current policy apply', async () => {
    expect(await answer(request(), { policies: [policy, next(policy, { rules: closed })] })).toBe(
      'policy-forbids address-book',
    );
    const opened = { ...policy, rules: closed };
    const named = { ...intent, policyHash: policyHashOf(opened) };
    expect(await answer(request({}, named), { policies: [opened, next(opened, { rules: NO_RULES })] })).toBe(
      'policy-forbids address-book',
    );
  });
});

test('approvals expire at the end of their validity, to the millisecond', async () => {
  const endsAtMs = signingEndsAtMs(intent);
  expect(await answer(request(), { nowMs: endsAtMs - 1 })).toBe('signs');
  expect(await answer(request(), { nowMs: endsAtMs })).toBe('expired');
});

test('a payment with an end is not signed after it, to the millisecond, and the approvals cover the end', async () => {
  const ending = { ...intent, notAfterMs: NOON_MS + 1000 };
  const requested = request({ approvals: approvalsBy(ending, alice, bob) }, ending);
  expect(await answer(requested, { nowMs: NOON_MS + 999 })).toBe('signs');
  expect(await answer(requested, { nowMs: NOON_MS + 1000 })).toBe('expired');
  // A request without the end, or with another end, has no approvals.
  for (const other of [intent, { ...ending, notAfterMs: NOON_MS + 2000 }]) {
    const forged = request({ approvals: approvalsBy(ending, alice, bob) }, other);
    expect(await answer(forged, { nowMs: NOON_MS })).toBe('not-enough-approvals');
  }
  const undone = composeTransaction(actionOfAttempt(ending, 'cancellation'), QUOTE, 4n).payload;
  const cancels = { ...requested, payload: undone, attempt: 2, purpose: 'cancellation' as const };
  expect(await answer(cancels, { nowMs: NOON_MS + 1000 })).toBe('signs');
});

describe('bytes that differ from the intent', () => {
  const other = (change: Partial<TransferIntent>) => composeTransaction({ ...intent, ...change }, QUOTE, 4n).payload;
  const honest = request().payload;
  const dear = composeTransaction({ ...intent, maxFee: amount('9'.repeat(30)) }, { ...QUOTE, gasLimit: '21001' }, 4n);
  test.each([
    ['another recipient', other({ to: OTHER }), 'wrong-recipient'],
    ['another amount', other({ amount: amount('1001') }), 'wrong-value'],
    ['another chain', other({ chain: 'eip155:1' }), 'wrong-chain'],
    ['a token call for a native payment', other({ tokenAddress: OTHER }), 'wrong-recipient'],
    ['a wei of fee too much', dear.payload, 'fee-above-cap'],
    ['a byte too many', `${honest}00`, 'malformed'],
    ['a byte too few', honest.slice(0, -2), 'malformed'],
    ['capitals', `0x${honest.slice(2).toUpperCase()}`, 'malformed'],
    ['another type', honest.replace('0x02', '0x01'), 'unsupported-type'],
    ['nothing', '', 'malformed'],
  ])('%s is refused', async (_name, payload, fault) => {
    expect(await answer(request({ payload }))).toBe(`payload-refused ${fault}`);
  });

  test('the calldata of a token transfer must equal the intent byte for byte', async () => {
    const token: TransferIntent = { ...intent, tokenAddress: OTHER };
    const good = request({}, token);
    expect(await answer(good)).toBe('signs');
    const elsewhere = composeTransaction({ ...token, to: WALLET }, QUOTE, 4n).payload;
    expect(await answer({ ...good, payload: elsewhere })).toBe('payload-refused wrong-data');
  });

  test('only the bytes of the nonce and of prices below the cap can be changed in the payload', async () => {
    const allowed = new Set<string>();
    for (let path = 2; path < honest.length; path += 2) {
      const byte = Number.parseInt(honest.slice(path, path + 2), 16) ^ 1;
      const payload = `${honest.slice(0, path)}${byte.toString(16).padStart(2, '0')}${honest.slice(path + 2)}`;
      const checked = await checkRequest(request({ payload }), pinned);
      if (!checked.ok) continue;
      const { bid } = checked.value;
      allowed.add(`nonce ${bid?.nonce}, at most ${bid?.maxFee}, tip ${bid?.maxTip}`);
    }
    expect([...allowed].toSorted()).toEqual([
      'nonce 4, at most 1744, tip 1000',
      'nonce 4, at most 2000, tip 1001',
      'nonce 4, at most 2000, tip 744',
      'nonce 5, at most 2000, tip 1000',
    ]);
  });
});
