import { addressOn } from '#chains/inspect/address-on.ts';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { blockhash } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { solanaRules } from '#chains/solana/rules/chain-rules.ts';
import type { DurableNonce } from '#chains/solana/rules/payment-terms.ts';
import { unsignedAttempt } from '#domain/transaction/event.ts';
import type { AttemptPurpose, TransferIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { generateKey } from '../key/generate-key.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { signedBytesOf } from '#jobs/signing/propagate-signed-record.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { present } from '../../chains/evm/cast.ts';
import { localCluster, message, stranger } from '../../chains/solana/cast.ts';
import { alice, amount, bob, policy } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedPayment, entered, newKey, requestFor, startCosigners, approvalBy } from '../cosigners.ts';
import { refusedByAll } from '../rejected-requests.ts';

/**
 * Tests three co-signers in workerd, an Ed25519 key, and a coordinator that requests forbidden
 * signatures.
 */

const [main, trial] = [localCluster(), localCluster({ name: 'trial', caip2: `solana:${'2'.repeat(32)}` })];
const rules = solanaRules(main);
const QUOTE = { unitLimit: 3_000, unitPrice: 10_000n, token: null, maxFee: amount('0') };

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  const made = await generateKey(cosigners.all, {
    scheme: 'frost-ed25519',
    policies: [{ policy, mandate: null }],
  });
  if (!made.ok) throw new Error(made.refusal.reason);
  const { scheme, publicKey } = made.value;
  const addresses = [main, trial].map(({ name, caip2 }) => {
    const derived = walletKey({ scheme, publicKey: hexToBytes(publicKey) }, caip2);
    return [name, present(addressOn(caip2, scheme, derived))] as const;
  });
  key = { ...made.value, addresses: Object.fromEntries(addresses) };
});
afterAll(() => cosigners.stop());

const nonce = (value: Address = stranger()): DurableNonce => ({ kind: 'nonce', nonceSlot: 0, value });
const opening = (nonceSlot = 0): DurableNonce => ({
  kind: 'opening',
  nonceSlot,
  blockhash: blockhash(stranger()),
  rent: 1_447_680n,
});

const transfer = (chain = main) => approvedPayment(key, chain, { to: stranger(), units: 1_000_000n });

interface Further {
  readonly number?: number;
  readonly unitPrice?: bigint;
  readonly purpose?: AttemptPurpose;
}

function attempt(
  intent: TransferIntent,
  anchor: DurableNonce,
  { number = 1, unitPrice = 10_000n, purpose = 'intent' }: Further = {},
) {
  const composed = rules.compose(
    intent,
    { ...QUOTE, unitPrice },
    { anchor, slot: 1n, validUntil: anchor.kind === 'opening' ? 150n : null },
  );
  return unsignedAttempt({ ...composed, purpose }, number, Date.now());
}

test('every two co-signers sign a payment that uses a durable nonce or opens one', async () => {
  for (const [pair, anchor] of [
    [[1, 2], nonce()],
    [[1, 3], opening()],
    [[2, 3], nonce()],
  ] as const) {
    const request = transfer();
    const signed = attempt(request.intent, anchor);
    const outcome = await thresholdSign(cosigners.some(...pair), { ...request, attempt: signed });
    if (!outcome.ok) throw new Error(outcome.reason);
    expect(rules.assemble(request.intent, signed, outcome.signatures).ok).toBe(true);
  }
});

test('a message is signed with its text as approved, and with no other text', async () => {
  const transaction = entered(key, { kind: 'message', format: 'solana-offchain', message: 'hello' }, { chain: main });
  const { intent } = transaction;
  if (intent.kind !== 'message') throw new Error('the story is about a message');
  const signed = { number: 1, purpose: 'intent' as const, ...rules.composeMessage(intent) };
  const request = requestFor(key, transaction);
  const outcome = await thresholdSign(cosigners.some(2, 3), { ...request, intent, attempt: signed });
  if (!outcome.ok) throw new Error(outcome.reason);
  expect(rules.assembleMessage(intent, present(outcome.signatures[0])).ok).toBe(true);
  const bytes = rules.composeMessage(message(intent.from as Address, 'hallo'));
  await refusedByAll(cosigners, { ...request, intent, attempt: { ...signed, ...bytes } }, 'payload-refused');
});

test('an approval of one payment signs no other payment', async () => {
  const [request, other] = [transfer(), transfer()];
  await refusedByAll(cosigners, { ...request, attempt: attempt(other.intent, nonce()) }, 'payload-refused');
});

test('an approval on a test network signs nothing on another, although a Solana transaction names no cluster', async () => {
  const request = transfer(trial);
  const there = { ...request.intent, chain: main.caip2, from: key.addresses[main.name] ?? '' };
  const bytes = attempt(there, nonce());
  // With the other wallet's address, the bytes do not match this intent; as that wallet's intent,
  // they have no approval.
  await refusedByAll(cosigners, { ...request, attempt: bytes }, 'payload-refused');
  await refusedByAll(cosigners, { ...request, intent: there, attempt: bytes }, 'not-enough-approvals');
  const borrowed = { ...request.intent, chain: main.caip2 };
  await refusedByAll(cosigners, { ...request, intent: borrowed, attempt: bytes }, 'wrong-wallet');
});

test('an Ed25519 key signs nothing for an EVM chain, and an ECDSA key nothing for Solana', async () => {
  const request = transfer();
  const disguised = { ...request.intent, chain: 'eip155:31337' };
  await refusedByAll(
    cosigners,
    { ...request, intent: disguised, attempt: attempt(request.intent, nonce()) },
    'wrong-wallet',
  );
  const ecdsa = await newKey(cosigners.all);
  const wrong = { ...request, key: { ...ecdsa, keyId: ecdsa.keyId } };
  await refusedByAll(cosigners, { ...wrong, attempt: attempt(request.intent, nonce()) }, 'wrong-wallet');
});

test('a second attempt that does not use the same nonce is refused, so a payment is made at most once', async () => {
  const request = transfer();
  const value = stranger();
  const sign = (one: ReturnType<typeof attempt>) => thresholdSign(cosigners.some(1, 2), { ...request, attempt: one });
  expect((await sign(attempt(request.intent, nonce(value)))).ok).toBe(true);
  for (const anchor of [nonce(), opening(), { ...nonce(), slot: 1 }]) {
    const outcome = await sign(attempt(request.intent, anchor, { number: 2, unitPrice: 50_000n }));
    expect(outcome.ok ? '' : outcome.reason).toContain('second-digest');
  }
  expect((await sign(attempt(request.intent, nonce(value), { number: 2, unitPrice: 50_000n }))).ok).toBe(true);
  const cheaper = await sign(attempt(request.intent, nonce(value), { number: 3, unitPrice: 40_000n }));
  expect(cheaper.ok ? '' : cheaper.reason).toContain('second-digest');
});

test('an expired opening of a nonce account is signed again for the same account, and for no other account', async () => {
  const request = transfer();
  const sign = (one: ReturnType<typeof attempt>) => thresholdSign(cosigners.some(1, 3), { ...request, attempt: one });
  expect((await sign(attempt(request.intent, opening(2)))).ok).toBe(true);
  const elsewhere = await sign(attempt(request.intent, opening(3), { number: 2 }));
  expect(elsewhere.ok ? '' : elsewhere.reason).toContain('second-digest');
  expect((await sign(attempt(request.intent, opening(2), { number: 2 }))).ok).toBe(true);
  // A payment with the opened account's nonce could be executed besides the opening, so it is
  // refused.
  const later = await sign(attempt(request.intent, { ...nonce(), nonceSlot: 2 }, { number: 3 }));
  expect(later.ok ? '' : later.reason).toContain('second-digest');
});

test('a cancellation uses the nonce of the payment, and the payment is never signed after it', async () => {
  const request = transfer();
  const value = stranger();
  const sign = (one: ReturnType<typeof attempt>) => thresholdSign(cosigners.some(2, 3), { ...request, attempt: one });
  expect((await sign(attempt(request.intent, nonce(value)))).ok).toBe(true);
  const nothing = actionOfAttempt(request.intent, 'cancellation');
  if (nothing.kind !== 'transfer') throw new Error('it pays nothing');
  const undone = { number: 2, unitPrice: 20_000n, purpose: 'cancellation' as const };
  expect((await sign(attempt(nothing, nonce(value), undone))).ok).toBe(true);
  const revived = await sign(attempt(request.intent, nonce(value), { number: 3, unitPrice: 40_000n }));
  expect(revived.ok ? '' : revived.reason).toContain('second-digest');
});

test('a payment without enough approvals is refused, and an approval of another digest does not count', async () => {
  const request = transfer();
  const signed = attempt(request.intent, nonce());
  const { digest } = request.approvals[0] ?? { digest: '' };
  for (const approvals of [
    [],
    [approvalBy(alice, digest)],
    [approvalBy(alice, digest), approvalBy(bob, 'd1'.repeat(32))],
  ]) {
    await refusedByAll(cosigners, { ...request, approvals, attempt: signed }, 'not-enough-approvals');
  }
});

test('a request with more signers than the threshold is refused', async () => {
  const request = transfer();
  const outcome = await thresholdSign(cosigners.all, {
    ...request,
    policies: [{ policy: { ...policy, signingThreshold: 3 }, mandate: null }],
    attempt: attempt(request.intent, nonce()),
  });
  expect(outcome.ok ? '' : outcome.reason).toContain('malformed');
});

/** Signs a transfer while the start request to co-signer 1 is changed in transit. */
async function invited(change: (invitation: Invitation) => void) {
  const request = transfer();
  let done = false;
  cosigners.watch(({ cosigner, path, body }) => {
    if (done || cosigner !== 1 || !path.endsWith('/start')) return;
    done = true;
    change(body as Invitation);
  });
  const outcome = await thresholdSign(cosigners.some(1, 2), { ...request, attempt: attempt(request.intent, nonce()) });
  cosigners.watch(() => {});
  expect(done).toBe(true);
  return outcome;
}

interface Invitation {
  readonly nonces: Record<string, string>;
  readonly openings: Record<string, string>;
}

test('FROST commitments that the coordinator changes, drops, swaps or repeats start no session and blame no co-signer', async () => {
  const flipped = (said = '', index = 0) => {
    const bytes = Buffer.from(said, 'base64');
    bytes[index] = (bytes[index] ?? 0) ^ 1;
    return bytes.toString('base64');
  };
  let earlier: string | undefined;
  expect((await invited(({ openings }) => (earlier = openings['2']))).ok).toBe(true);
  const changes: readonly ((invitation: Invitation) => void)[] = [
    ({ openings }) => (openings['2'] = flipped(openings['2'])),
    ({ openings }) => (openings['2'] = flipped(openings['2'], 70)),
    ({ openings }) => (openings['2'] = flipped(openings['2'], 127)),
    ({ openings }) => delete openings['2'],
    ({ openings }) => (openings['2'] = ''),
    ({ openings }) => (openings['2'] = openings['1'] ?? ''),
    ({ openings }) => (openings['2'] = earlier ?? ''),
    ({ nonces }) => (nonces['2'] = '00'.repeat(32)),
  ];
  for (const [i, change] of changes.entries()) {
    const outcome = await invited(change);
    expect([i, outcome.ok ? '' : outcome.reason]).toEqual([i, 'node 1 envelope-refused']);
  }
  expect((await invited(() => {})).ok).toBe(true);
});

test('a co-signer uses the commitments that it drew itself, whatever the coordinator sends in their place', async () => {
  expect((await invited(({ openings }) => (openings['1'] = 'AAAA'))).ok).toBe(true);
});

test('an opening starts one session, and a second start with the same nonces is refused', async () => {
  const answers: unknown[] = [];
  let isRequested = false;
  cosigners.watch(async ({ cosigner, path, body }) => {
    if (isRequested || cosigner !== 1 || !path.endsWith('/start')) return;
    isRequested = true;
    answers.push(await present(cosigners.all[0]).call(path, structuredClone(body)));
  });
  const request = transfer();
  const outcome = await thresholdSign(cosigners.some(1, 2), { ...request, attempt: attempt(request.intent, nonce()) });
  cosigners.watch(() => {});
  expect(answers).toMatchObject([{ ok: true, value: { result: {} } }]);
  expect(outcome.ok ? '' : outcome.reason).toBe('node 1 unknown-session');
});

test('a co-signer without a record takes it from the signature of the first attempt, and signs the next one', async () => {
  const request = transfer();
  const value = stranger();
  const first = attempt(request.intent, nonce(value));
  const outcome = await thresholdSign(cosigners.some(1, 2), { ...request, attempt: first });
  if (!outcome.ok) throw new Error(outcome.reason);
  const signed = rules.assemble(request.intent, first, outcome.signatures);
  if (!signed.ok) throw new Error(signed.refusal.detail);
  const bytes = signedBytesOf(rules, request.intent, { ...first, signed: signed.value });
  const second = attempt(request.intent, nonce(value), { number: 2, unitPrice: 50_000n });
  const faster = { ...request, attempt: second };
  expect((await thresholdSign(cosigners.some(1, 3), { ...faster, earlier: () => [] })).ok).toBe(false);
  expect((await thresholdSign(cosigners.some(1, 3), { ...faster, earlier: () => [bytes] })).ok).toBe(true);
});
