/**
 * Attack: a coordinator sends escape sequences in its texts, which show another recipient on the
 *   terminal of a signer while the device signs a payment to the thief.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: F1, F14
 * Defence: before its question the device command prints only what it computed from the signed
 *   bytes, with every control and invisible character escaped. Recipient, amount, fee and warnings
 *   are the last lines.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesToHex } from '@noble/hashes/utils.js';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { runCommand } from '#cli/command-line.ts';
import { deviceCommand } from '#cli/device/device.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Intent, TransferIntent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { byDevice, laptop } from '../../cosigner/policy/device-scene.ts';
import { adopted, CHAIN, newKey, serve, shownInTerminal } from '../../cli/device/service-scene.ts';
import type { Service } from '../../cli/device/service-scene.ts';
import { creation, hashOf, mandateFor, successor } from '../../devices/policy-links-scene.ts';
import { paperCosigner } from '../../devices/statement-scene.ts';
import { amount, vaultId } from '../../domain/cast.ts';
import { inTurn } from '../../setup/turns.ts';

const SUPPLIER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const THIEF = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
/** A word in every text that only the server wrote, and in no byte that is signed. */
const MARK = 'SERVERTEXT';
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Variation_Selector}]/u;

const cosigners = [1, 2, 3].map(paperCosigner);
const key = newKey();
const book = [{ chain: CHAIN, address: SUPPLIER, name: 'Supplier' }];
const policy: Policy = {
  ...byDevice,
  cosigners: cosigners.map(({ pin }) => pin),
  rules: { ...byDevice.rules, addressBook: book },
};
const transactionId = newTransactionId(vaultId, Date.now(), new Uint8Array(10).fill(1));
const theft: TransferIntent = {
  kind: 'transfer',
  vaultId,
  transactionId,
  chain: CHAIN,
  from: key.wallet.address,
  to: THIEF,
  tokenAddress: null,
  amount: amount(`1${'0'.repeat(20)}`),
  maxFee: amount('1000000000000000'),
  lookalikeOf: null,
  policyVersion: policy.version,
  policyHash: hashOf(policy),
  note: 'Invoice 7',
  createdAtMs: Date.now(),
  expiresAtMs: Date.now() + 3_600_000,
};

let folder: string;
let service: Service;
let answers: Readonly<Record<string, unknown>> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'terminal-'));
  writeFileSync(join(folder, 'alice.pem'), laptop.secretPem(), { mode: 0o600 });
  service = await serve(({ url = '' }) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const [part = ''] = Object.keys(answers).filter((one) => pathname.endsWith(one));
    const answer = answers[part];
    return typeof answer === 'function'
      ? (answer as (nonce: string) => unknown)(searchParams.get('nonce') ?? '')
      : answer;
  });
});
afterAll(() => {
  service.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = 0;
});

/** Pins the co-signers as alice has confirmed them. */
function pinCosigners() {
  const vault = {
    cosigners: policy.cosigners,
    threshold: 2,
    policy: { version: policy.version, hash: hashOf(policy) },
    keyIds: [key.keyId],
  };
  writeFileSync(join(folder, 'alice.pem.pins.json'), JSON.stringify({ version: 2, vaults: { [vaultId]: vault } }));
}

const statementsOver = (nonce: string) =>
  cosigners.map(({ pin: { index }, sign }) => ({
    cosigner: index,
    keyId: key.keyId,
    statement: sign({
      cosigner: index,
      vaultId,
      keyId: key.keyId,
      policyVersion: policy.version,
      policyHash: hashOf(policy),
      signingThreshold: 2,
      epoch: 1,
      issuedAtMs: Date.now(),
      nonce,
    }),
  }));

const delivered = (nonce: string) => ({
  keys: [{ keyId: key.keyId, scheme: key.scheme, publicKey: key.publicKey }],
  statements: statementsOver(nonce),
});

/** The answers of a service that requests an approval, with what the attacker adds to them. */
function approvalOf(canonical: Uint8Array, lies: Readonly<Record<string, unknown>> = {}) {
  return {
    '/challenge': (nonce: string) => ({ canonical: bytesToHex(canonical), warnings: [], ...delivered(nonce), ...lies }),
    '/policies': { data: [adopted(creation(policy), 0)], nextCursor: null },
    '/approve': { id: transactionId, state: 'SUBMITTED' },
  };
}

const approve = () => ['approve', '--transaction', transactionId, '--key', join(folder, 'alice.pem')];

/** Runs the command in this process. Returns what it printed, and whether it signed. */
async function printed(words: readonly string[]) {
  vi.stubEnv('CONCLAVE_URL', service.url);
  vi.stubEnv('CONCLAVE_TOKEN', 'token');
  const lines: string[] = [];
  const errors = vi.spyOn(console, 'error').mockImplementation((line: unknown) => void lines.push(String(line)));
  const result = vi.spyOn(console, 'log').mockImplementation(() => {});
  await runCommand(deviceCommand, [...words, '--yes', '--bundled-node']);
  const hasSigned = result.mock.calls.length > 0;
  const output = result.mock.calls.map(([line]) => String(line));
  errors.mockRestore();
  result.mockRestore();
  return { lines, hasSigned, output };
}

// `script` of util-linux opens the pseudo terminal. On other systems it has other options.
test.skipIf(process.platform !== 'linux')('the terminal shows the thief directly above the question', async () => {
  pinCosigners();
  const hide = '\u001B[10A\r\u001B[2K  to: Supplier\u001B[10B\r\u001B[2K';
  answers = approvalOf(intentBytes(theft), {
    warnings: [{ code: MARK, detail: `${MARK}${hide}` }],
    intent: { to: SUPPLIER, note: hide },
  });
  const env = { CONCLAVE_URL: service.url, CONCLAVE_TOKEN: 'token' };
  const shown = await shownInTerminal(['device', ...approve(), '--bundled-node'], { env, answer: 'no' });
  expect(shown.replaceAll('\r\n', '')).not.toMatch(CONTROL);
  expect(shown).not.toContain(MARK);
  const last = shown.split('\r\n').slice(-7).join('\n');
  expect(last).toContain('Send 100 ETH');
  expect(last).toContain(THIEF);
  expect(last).toContain('Not in the address book');
  expect(last).toContain('Maximum fee: 0.001 ETH');
  expect(last).toMatch(/Sign this\? Type yes: $/);
});

test('bytes whose note has a control sequence are not signed', async () => {
  pinCosigners();
  const { domain, fields } = readCanonical(intentBytes(theft));
  for (const note of ['\u009B10A\u009B2K', '\u001B[2K', 'a\nb', '\u202Epay']) {
    const bytes = canonicalBytes(
      domain,
      fields.map(([name, value]) => [name, name === 'note' ? note : value]),
    );
    answers = approvalOf(bytes);
    const { hasSigned, lines } = await printed(approve());
    expect([hasSigned, lines.at(-1)]).toEqual([false, 'The field note is malformed.']);
  }
});

/** A run costs 20 ms. Each commit draws other services, so `npm test` takes a quarter of them. */
const runs = (count: number) => inTurn(Array.from({ length: count }), 4).length;

/** A text that an attacker may choose: controls, marks and words, with the word of the server. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\u001B[2K',
        '\u009B1A',
        '\r',
        '\n',
        '\b',
        '\u202E',
        '\u2028',
        '\uFE0F',
        '\u0301'.repeat(9),
        'to: ',
      ),
      fc.string({ unit: 'binary', maxLength: 6 }),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join('').toWellFormed());
const serverText = hostileText.map((text) => `${text}${MARK}${text}`);
const plainText = hostileText.map((text) => text.replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ''));

const hostileIntent: fc.Arbitrary<Intent> = fc
  .record({
    note: fc.option(plainText),
    to: fc.constantFrom(THIEF, SUPPLIER),
    memo: plainText,
    message: hostileText,
    kind: fc.constantFrom('transfer', 'memo', 'message', 'call'),
  })
  .map(({ note, to, memo, message, kind }) => {
    const { to: _to, tokenAddress: _token, amount: _amount, maxFee, lookalikeOf, kind: _kind, ...frame } = theft;
    if (kind === 'message') return { ...frame, note, kind, format: 'eip191', message };
    if (kind === 'call')
      return {
        ...frame,
        note,
        kind: 'contract-interaction',
        to,
        data: '0x12345678',
        value: amount('5'),
        maxFee,
        lookalikeOf,
      };
    return { ...theft, note, to, ...(kind === 'memo' ? { memo } : {}) };
  });

/** Prints what each of many random services makes the device show. */
async function faultsOf(words: readonly string[]) {
  const { lines, hasSigned, output } = await printed(words);
  const text = [...lines, ...output].join('\n');
  const control = [...text].find((letter) => letter !== '\n' && CONTROL.test(letter));
  return {
    control: control?.codePointAt(0) ?? null,
    ofServer: hasSigned ? lines.filter((line) => line.includes(MARK)) : [],
    hasSigned,
  };
}

test('600 random services print no control character and no text of their own before the question', async () => {
  pinCosigners();
  let signed = 0;
  const hostile = fc.record({
    intent: hostileIntent,
    warnings: fc.array(fc.record({ code: serverText, detail: serverText }), { maxLength: 3 }),
    more: fc.dictionary(serverText, serverText, { maxKeys: 3 }),
    scheme: fc.oneof({ weight: 9, arbitrary: fc.constant(key.scheme) }, { weight: 1, arbitrary: serverText }),
    statement: fc.option(serverText),
    state: serverText,
  });
  await fc.assert(
    fc.asyncProperty(hostile, async ({ intent, warnings, more, scheme, statement, state }) => {
      const base = approvalOf(intentBytes(intent), { warnings, more });
      answers = {
        ...base,
        '/challenge': (nonce: string) => {
          const { keys, statements } = delivered(nonce);
          const garbled = statements.map((one) =>
            one.cosigner === 3 && statement !== null ? { ...one, statement } : one,
          );
          return { ...base['/challenge'](nonce), keys: [{ ...keys[0], scheme }], statements: garbled };
        },
        '/approve': { id: transactionId, state, [state]: state },
      };
      const despite = statement === null ? [] : ['--despite-cosigner', '3:unknown'];
      const faults = await faultsOf([...approve(), ...despite]);
      signed += faults.hasSigned ? 1 : 0;
      expect({ ...faults, hasSigned: null }).toEqual({ control: null, ofServer: [], hasSigned: null });
    }),
    { numRuns: runs(600) },
  );
  // The lies reach the question in most runs.
  expect(signed).toBeGreaterThan(runs(600) / 2);
});

test('400 random policy changes print no control character and no text of the service', async () => {
  pinCosigners();
  let signed = 0;
  const hostile = fc.record({ name: plainText, note: fc.option(plainText), text: serverText });
  await fc.assert(
    fc.asyncProperty(hostile, async ({ name, note, text }) => {
      const rules = { ...policy.rules, addressBook: [{ chain: CHAIN, address: THIEF, name }, ...book] };
      const next = successor(policy, { rules });
      const { id, createdAtMs, expiresAtMs } = mandateFor(next, [], Date.now());
      const canonical = bytesToHex(mandateBytes({ id, note, createdAtMs, expiresAtMs }, hashOf(next)));
      answers = {
        '/policies': { data: [adopted(creation(policy), 0)], nextCursor: null },
        [`/policy-change/${id}`]: (nonce: string) => ({
          canonical,
          policy: { canonical: bytesToHex(policyBytes(next)), name: text },
          decidedBy: { canonical: bytesToHex(policyBytes(policy)), name: text },
          note: text,
          ...delivered(nonce),
        }),
        '/approve': { id, state: text },
      };
      const words = ['approve-policy', '--vault', String(vaultId), '--change', id, '--key', join(folder, 'alice.pem')];
      const faults = await faultsOf(words);
      signed += faults.hasSigned ? 1 : 0;
      expect({ ...faults, hasSigned: null }).toEqual({ control: null, ofServer: [], hasSigned: null });
    }),
    { numRuns: runs(400) },
  );
  expect(signed).toBe(runs(400));
});
