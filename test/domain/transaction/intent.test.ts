import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type {
  ContractInteractionIntent,
  Erc20ApproveIntent,
  Intent,
  MessageIntent,
  TransferIntent,
} from '#domain/transaction/intent.ts';
import {
  ATTEMPT_PURPOSES,
  actionOfAttempt,
  intentBytes,
  MESSAGE_FORMATS,
  attemptEndsAtMs,
  isPastNotAfterTime,
  livesTooLong,
  MAX_APPROVAL_LIFETIME_MS,
  signingEndsAtMs,
  requiresExtraApproval,
} from '#domain/transaction/intent.ts';
import { parseUserId, parseVaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes, policyFault } from '#domain/policy/policy.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { amount, FRAME as CAST_FRAME, messageIntent, policy, transactionIn, transferIntent } from '../cast.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const intent = transferIntent();

type Fields<I extends Intent> = Required<Omit<I, 'kind'>>;

/** Another value for each field. The types require an entry here for each new field. */
const FRAME = {
  vaultId: parseVaultId(8) ?? intent.vaultId,
  transactionId: transactionIn('SUBMITTED').id.replace('7.', '8.') as Intent['transactionId'],
  chain: 'eip155:1',
  from: '0x1111111111111111111111111111111111111112',
  policyVersion: 2,
  policyHash: '01'.repeat(32),
  note: '',
  createdAtMs: intent.createdAtMs + 1,
  expiresAtMs: intent.expiresAtMs + 1,
};
const [ADDRESS, TOKEN] = [
  '0x2222222222222222222222222222222222222223',
  '0x3333333333333333333333333333333333333333',
] as const;
const TRANSFER: Fields<TransferIntent> = {
  ...FRAME,
  to: ADDRESS,
  tokenAddress: TOKEN,
  amount: amount('1001'),
  maxFee: amount('101'),
  lookalikeOf: ADDRESS,
  notAfterMs: intent.expiresAtMs + 2,
  paysFor: 'ab'.repeat(32),
  memo: '104729',
  recipientMayHaveNoKey: true,
  recipientIsToken: true,
  maxTokenFee: amount('3'),
};
const INTERACTION: Fields<ContractInteractionIntent> = {
  ...FRAME,
  to: ADDRESS,
  data: '0x00',
  value: amount('1'),
  maxFee: amount('101'),
  lookalikeOf: ADDRESS,
  notAfterMs: intent.expiresAtMs + 2,
};
const APPROVAL: Fields<Erc20ApproveIntent> = {
  ...FRAME,
  tokenAddress: ADDRESS,
  spender: ADDRESS,
  amount: amount('1001'),
  maxFee: amount('101'),
  lookalikeOf: ADDRESS,
  notAfterMs: intent.expiresAtMs + 2,
};
const MESSAGE: Fields<MessageIntent> = {
  ...FRAME,
  format: 'eip712',
  message: 'hello!',
  foreignChainId: '1337',
  droppedKeys: 2,
};

const cost = { maxFee: amount('100'), lookalikeOf: null };
const interaction: Intent = {
  ...CAST_FRAME,
  kind: 'contract-interaction',
  to: TOKEN,
  data: '0x',
  value: amount('0'),
  ...cost,
};
const approval: Intent = {
  ...CAST_FRAME,
  kind: 'erc20-approve',
  tokenAddress: TOKEN,
  spender: TOKEN,
  amount: amount('1000'),
  ...cost,
};
for (const [of, changed] of [
  [intent, TRANSFER],
  [interaction, INTERACTION],
  [approval, APPROVAL],
  [messageIntent(), MESSAGE],
] as const) {
  for (const [field, value] of Object.entries(changed)) {
    test(`the digest of a ${of.kind} covers ${field}`, () => {
      expect(hex(intentBytes({ ...of, [field]: value }))).not.toBe(hex(intentBytes(of)));
    });
  }
}

test('no two kinds share an encoding, and an unknown kind has none', () => {
  const encodings = [intent, interaction, approval, messageIntent()].map((of) => hex(intentBytes(of)));
  expect(new Set(encodings).size).toBe(4);
  expect(() => intentBytes({ ...intent, kind: 'other' } as unknown as Intent)).toThrow('unknown value');
});

test('the encoding is pinned: an approval given today must be readable in ten years', () => {
  const start = hex(
    canonicalBytes('conclave/intent/v1', [
      ['kind', 'transfer'],
      ['note', null],
    ]),
  );
  expect(start).toBe(
    [
      '00000012',
      Buffer.from('conclave/intent/v1').toString('hex'),
      '00000004',
      Buffer.from('kind').toString('hex'),
      '01',
      '00000008',
      Buffer.from('transfer').toString('hex'),
      '00000004',
      Buffer.from('note').toString('hex'),
      '00',
    ].join(''),
  );
  expect(hex(intentBytes(intent)).startsWith(`00000012${Buffer.from('conclave/intent/v1').toString('hex')}`)).toBe(
    true,
  );
});

test.each<[Intent, readonly string[]]>([
  [
    { ...intent, ...TRANSFER },
    'to tokenAddress amount maxFee lookalikeOf paysFor memo recipientMayHaveNoKey recipientIsToken maxTokenFee'.split(
      ' ',
    ),
  ],
  [{ ...intent, memo: '104729' }, ['to', 'tokenAddress', 'amount', 'maxFee', 'lookalikeOf', 'memo']],
  [intent, ['to', 'tokenAddress', 'amount', 'maxFee', 'lookalikeOf']],
  [{ ...interaction, ...INTERACTION }, ['to', 'data', 'value', 'maxFee', 'lookalikeOf']],
  [{ ...approval, ...APPROVAL }, ['tokenAddress', 'spender', 'amount', 'maxFee', 'lookalikeOf']],
  [{ ...messageIntent(), ...MESSAGE }, ['format', 'message', 'foreignChainId', 'droppedKeys']],
  [messageIntent(), ['format', 'message']],
])('the signed form has every field with its name, in one order: %o', (of, own) => {
  const values: Readonly<Record<string, string | number | boolean | null | undefined>> = { ...of };
  const names = ['kind', 'vaultId', 'transactionId', 'chain', 'from', ...own];
  names.push('policyVersion', 'policyHash', 'note', 'createdAtMs', 'expiresAtMs');
  if ('notAfterMs' in of) names.push('notAfterMs');
  expect(readCanonical(intentBytes(of))).toEqual({
    domain: 'conclave/intent/v1',
    fields: names.map((name) => [name, values[name] === null ? null : String(values[name])]),
  });
});

test('the enumerated values of an intent keep their spelling forever', () => {
  expect(MESSAGE_FORMATS).toEqual(['eip191', 'eip712', 'solana-offchain', 'bip322', 'eip191-hex']);
  expect(ATTEMPT_PURPOSES).toEqual(['intent', 'cancellation']);
});

test('an approved transaction can be signed for one more day, and not a millisecond longer', () => {
  expect(signingEndsAtMs(intent)).toBe(intent.expiresAtMs + 86_400_000);
});

test('a payment is signed until the end that the intent names, and a cancellation for thirty more days', () => {
  const [dayMs, { expiresAtMs }] = [24 * 60 * 60 * 1000, intent];
  for (const of of [intent, messageIntent()]) {
    expect(attemptEndsAtMs(of, 'intent')).toBe(expiresAtMs + dayMs);
    expect(attemptEndsAtMs(of, 'cancellation')).toBe(expiresAtMs + 31 * dayMs);
    expect(isPastNotAfterTime(of, Number.MAX_SAFE_INTEGER)).toBe(false);
  }
  const soon = { ...intent, notAfterMs: expiresAtMs };
  expect(attemptEndsAtMs(soon, 'intent')).toBe(expiresAtMs);
  expect(attemptEndsAtMs(soon, 'cancellation')).toBe(expiresAtMs + 31 * dayMs);
  expect([isPastNotAfterTime(soon, expiresAtMs - 1), isPastNotAfterTime(soon, expiresAtMs)]).toEqual([false, true]);
  const late = { ...intent, notAfterMs: expiresAtMs + 100 * dayMs };
  expect(attemptEndsAtMs(late, 'intent')).toBe(expiresAtMs + dayMs);
  expect(attemptEndsAtMs(late, 'cancellation')).toBe(expiresAtMs + 130 * dayMs);
});

test('a cancellation pays zero to the wallet itself, within the same fee, under the same approvals', () => {
  const { vaultId, transactionId, chain, from, policyVersion, policyHash, note, createdAtMs, expiresAtMs } = intent;
  const frame = { vaultId, transactionId, chain, from, policyVersion, policyHash, note, createdAtMs, expiresAtMs };
  for (const of of [{ ...intent, ...TRANSFER, paysFor: 'ab'.repeat(32), ...frame }, interaction, approval]) {
    const nothing = {
      kind: 'transfer',
      to: from,
      tokenAddress: null,
      amount: '0',
      maxFee: of.maxFee,
      lookalikeOf: null,
    };
    expect(actionOfAttempt(of, 'cancellation')).toEqual({ ...frame, ...nothing });
    expect(actionOfAttempt(of, 'intent')).toBe(of);
  }
});

test('a recipient that imitates a known address requires one more approval, and a message has no recipient', () => {
  expect([requiresExtraApproval(intent), requiresExtraApproval({ ...intent, lookalikeOf: ADDRESS })]).toEqual([
    false,
    true,
  ]);
  expect(requiresExtraApproval({ ...approval, lookalikeOf: ADDRESS })).toBe(true);
  expect(requiresExtraApproval(messageIntent())).toBe(false);
});

const fields = fc.array(fc.tuple(fc.string(), fc.option(fc.string({ unit: 'grapheme' }))), { maxLength: 6 });

test('two different lists of fields never share an encoding', () => {
  fc.assert(
    fc.property(fc.string(), fields, fc.string(), fields, (domainA, a, domainB, b) => {
      const same = JSON.stringify([domainA, a]) === JSON.stringify([domainB, b]);
      const bytes = (domain: string, list: CanonicalField[]) => hex(canonicalBytes(domain, list));
      expect(bytes(domainA, a) === bytes(domainB, b)).toBe(same);
    }),
    { numRuns: 2000 },
  );
});

test('a letter moved from one field to the next changes the bytes', () => {
  const bytes = (a: string, b: string) =>
    hex(
      canonicalBytes('x', [
        ['f', a],
        ['f', b],
      ]),
    );
  expect(bytes('ab', 'c')).not.toBe(bytes('a', 'bc'));
});

test('a policy hash covers its signers, threshold, version and vault, and the previous policy', () => {
  const other = parseUserId(`usr_${'0'.repeat(26)}`);
  if (other === null) throw new Error('the id must parse');
  const changed: Policy[] = [
    { ...policy, version: 2 },
    { ...policy, threshold: 3 },
    { ...policy, previousHash: '01'.repeat(32) },
    { ...policy, vaultId: FRAME.vaultId },
    { ...policy, signers: policy.signers.slice(1) },
    { ...policy, signers: [other, ...policy.signers.slice(1)] },
  ];
  const all = [policy, ...changed].map((one) => hex(policyBytes(one)));
  expect(new Set(all).size).toBe(all.length);
});

const faults: readonly (readonly [string, Partial<Policy>, string | null])[] = [
  ['as it is', {}, null],
  ['without signers', { signers: [] }, 'no-signers'],
  ['unsorted', { signers: policy.signers.toReversed() }, 'signers-not-sorted'],
  ['with one person twice', { signers: [...policy.signers.slice(0, 1), ...policy.signers] }, 'signers-not-sorted'],
  ['with threshold 0', { threshold: 0 }, 'threshold-out-of-range'],
  ['with threshold 1.5', { threshold: 1.5 }, 'threshold-out-of-range'],
  ['with a threshold above the number of signers', { threshold: 4 }, 'threshold-out-of-range'],
  [
    'with 51 signers',
    { signers: Array.from({ length: 51 }, (_, i) => policy.signers[i % 3] ?? policy.signers[0]!) },
    'too-many-signers',
  ],
];
for (const [name, difference, fault] of faults) {
  test(`a policy ${name}: ${fault ?? 'no fault'}`, () => expect(policyFault({ ...policy, ...difference })).toBe(fault));
}

const DAY_MS = 24 * 60 * 60 * 1000;

test('an intent may live for ninety days, and not a millisecond longer', () => {
  const { createdAtMs } = intent;
  const lives = (differences: object) => livesTooLong({ ...intent, ...differences });
  const [last, late] = [createdAtMs + 90 * DAY_MS, createdAtMs + 90 * DAY_MS + 1];
  expect([lives({ expiresAtMs: last }), lives({ expiresAtMs: late })]).toEqual([false, true]);
  expect([lives({ notAfterMs: last }), lives({ notAfterMs: late })]).toEqual([false, true]);
  expect(lives({ expiresAtMs: late, notAfterMs: createdAtMs + DAY_MS })).toBe(true);
  expect(MAX_APPROVAL_LIFETIME_MS).toBe(90 * DAY_MS);
});

test('a message has no end of its own', () => {
  expect(isPastNotAfterTime({ ...messageIntent(), notAfterMs: 1 } as Intent, 2)).toBe(false);
});
