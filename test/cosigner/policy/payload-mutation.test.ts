import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { parseTransaction } from 'viem';
import { checkRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { signingRequestOf } from '#cosigner/session/signing-request.ts';
import { Malformed } from '#cosigner/request-parser.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { parseKeyId } from '#domain/id.ts';
import { INTENT_DOMAIN } from '#domain/transaction/intent.ts';
import type { Approval } from '#domain/access/approval.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { ThresholdSignRequest } from '../threshold-sign.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { alice, amount, bob, NOON_MS } from '../../domain/cast.ts';
import { heldFor } from './check-scene.ts';
import { byDevice, laptop, phone, founded } from './device-scene.ts';
import { approvedMessage, attemptOf, entered, requestFor, approvalBy } from '../cosigners.ts';
import { openBody } from '../rejected-requests.ts';

/**
 * Fuzzes approved requests as an attacker with the coordinator could: changes fields, flips bytes,
 * and moves parts of one request into another, any number of times. Whatever a co-signer still
 * signs must do exactly what was approved. MUTATIONS=1000000 runs longer; SEED repeats a run.
 */

const MUTATIONS = Number.parseInt(process.env['MUTATIONS'] ?? '4000', 10);
const SEED = Number.parseInt(process.env['SEED'] ?? '20261122', 10);
const WALLET = '0x1111111111111111111111111111111111111111';
const RECIPIENT = '0x2222222222222222222222222222222222222222';
const TOKEN = '0x3333333333333333333333333333333333333333';

const pinned = {
  wallet: WALLET,
  nowMs: NOON_MS,
  feeCeilings: new Map(),
  isRecorded: () => false,
};

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => vi.useRealTimers());

type Json = null | boolean | number | string | Json[] | { [field: string]: Json };

const keyId = parseKeyId('a'.repeat(26));
if (keyId === null) throw new Error('the key id must parse');
const key: VaultKey = {
  keyId,
  scheme: 'ecdsa-secp256k1',
  publicKey: '02',
  publicShares: {},
  addresses: { anvil: WALLET },
};

/**
 * Returns a request as the coordinator sends it, with the signatures of alice's laptop and bob's
 * phone.
 */
function sent(request: Omit<ThresholdSignRequest, 'approvals'>, digest: string): Json {
  const approvals: readonly Approval[] = [
    { ...approvalBy(alice, digest), device: laptop.signed(digest) },
    { ...approvalBy(bob, digest), device: phone.signed(digest) },
  ];
  const policies = [founded(byDevice)];
  const body = openBody({ ...request, approvals, policies }, [1, 2]).request;
  const { fields } = readCanonical(hexToBytes(body.intent));
  return JSON.parse(JSON.stringify({ ...body, intent: fields })) as Json;
}

/**
 * Returns a mutated request in the form in which it is sent: with the intent in canonical bytes, if
 * its fields still have an encoding.
 */
function encoded(request: Json): Json {
  const { intent } = request as { readonly intent?: Json };
  if (!Array.isArray(intent) || !intent.every(isField)) return request;
  const fields = intent as unknown as readonly CanonicalField[];
  if (!fields.flat().every((text) => text === null || text.isWellFormed())) return request;
  return { ...(request as Record<string, Json>), intent: bytesToHex(canonicalBytes(INTENT_DOMAIN, fields)) };
}

function isField(field: Json): boolean {
  if (!Array.isArray(field) || field.length !== 2) return false;
  return typeof field[0] === 'string' && (field[1] === null || typeof field[1] === 'string');
}

/** Returns a field of the intent of a request, in which the intent is a list of fields. */
function fieldOf(request: Json, name: string): string {
  const { intent } = request as unknown as { readonly intent: readonly CanonicalField[] };
  return intent.find(([field]) => field === name)?.[1] ?? '';
}

type Requested = Parameters<typeof entered>[1];

function onChain(action: Exclude<Requested, { kind: 'message' }>): Json {
  const transaction = entered(key, action, { governedBy: byDevice, createdAtMs: NOON_MS });
  const { intent } = transaction;
  if (intent.kind === 'message') throw new Error('the story is about the chain');
  const attempt = attemptOf(intent, { gasLimit: '90000' });
  return sent({ ...requestFor(key, transaction), intent, attempt }, transaction.digest);
}

function message(): Json {
  const text = { format: 'eip191', message: 'I agree' } as const;
  const transaction = entered(key, { kind: 'message', ...text }, { governedBy: byDevice, createdAtMs: NOON_MS });
  const { intent } = transaction;
  if (intent.kind !== 'message') throw new Error('the story is about a message');
  const { attempt } = approvedMessage(key, text);
  return sent({ ...requestFor(key, transaction), intent, attempt }, transaction.digest);
}

const STORIES: Readonly<Record<string, () => Json>> = {
  'a payment': () => onChain({ kind: 'transfer', to: RECIPIENT, tokenAddress: null, amount: amount('1000') }),
  'a payment of tokens': () =>
    onChain({ kind: 'transfer', to: RECIPIENT, tokenAddress: TOKEN, amount: amount('1000') }),
  'a call': () => onChain({ kind: 'contract-interaction', to: TOKEN, data: '0xd0e30db0', value: amount('7') }),
  'an allowance': () =>
    onChain({ kind: 'erc20-approve', tokenAddress: TOKEN, spender: RECIPIENT, amount: amount('9') }),
  'a message': message,
};

/** Returns the paths of all values in a JSON value, the path of the whole value first. */
function positionsIn(value: Json, at: readonly (string | number)[] = []): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, inner]) => positionsIn(inner, [...at, name]))];
}

function valueAt(value: Json, at: readonly (string | number)[]): Json {
  return at.reduce<Json>((inner, name) => (inner as Record<string, Json> | null)?.[name] ?? null, value);
}

function changedAt(value: Json, at: readonly (string | number)[], change: (inner: Json) => Json | undefined): Json {
  const [name, ...rest] = at;
  if (name === undefined) return change(value) ?? null;
  const copy = structuredClone(value) as Record<string, Json>;
  const next = rest.length === 0 ? change(copy[name] ?? null) : changedAt(copy[name] ?? null, rest, change);
  if (next !== undefined) copy[name] = next;
  else if (Array.isArray(copy)) (copy as Json[]).splice(Number.parseInt(String(name), 10), 1);
  else delete copy[name];
  return copy;
}

/**
 * Changes one value of the request: by a small edit, which a check is most likely to miss, or by a
 * part of another request.
 */
function mutated(chance: () => number, request: Json, others: readonly Json[]): Json {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(chance() * list.length)] as T;
  const at = pick(positionsIn(request).slice(1));
  const dice = chance();
  if (dice < 0.1) return changedAt(request, at, () => undefined);
  if (dice < 0.3) return changedAt(request, at, () => valueAt(pick(others), at));
  if (dice < 0.4) {
    const from = pick(others);
    return changedAt(request, at, () => valueAt(from, pick(positionsIn(from))));
  }
  return changedAt(request, at, (value) => {
    if (typeof value === 'number') return pick([value + 1, value - 1, 0, -value, value * 1000, 2 ** 53]);
    if (typeof value === 'string') return editedText(chance, value);
    if (Array.isArray(value)) return pick([[], [...value, ...value], value.toReversed(), value.slice(1)]);
    if (value === null) return pick<Json>(['', 0, RECIPIENT, {}]);
    return typeof value === 'object' ? { ...value, more: 1 } : !value;
  });
}

function editedText(chance: () => number, text: string): string {
  const at = Math.floor(chance() * (text.length + 1));
  const letter = '0123456789abcdefABCDEFx-_. '.charAt(Math.floor(chance() * 27));
  const dice = chance();
  if (dice < 0.6) return text.slice(0, at) + letter + text.slice(at + 1);
  if (dice < 0.75) return text.slice(0, at) + letter + text.slice(at);
  if (dice < 0.9) return text.slice(0, at) + text.slice(at + 1);
  return dice < 0.95 ? text.toUpperCase() : '';
}

interface SentRequest {
  readonly payload: string;
  readonly purpose: string;
}

/**
 * Returns the effect of a request as an independent parser reads it. The nonce and prices below the
 * approved cap are left to the coordinator, so they are not part of the effect.
 */
function effectOf(request: Json): Json {
  const { payload, purpose } = request as unknown as SentRequest;
  if (fieldOf(request, 'kind') === 'message') return { payload, purpose };
  const {
    chainId,
    to,
    value = 0n,
    data = '0x',
    type,
    gas = 0n,
    maxFeePerGas = 0n,
    accessList,
  } = parseTransaction(`0x${payload.replace(/^0x/, '')}`);
  const isWithinCap = gas * maxFeePerGas <= BigInt(fieldOf(request, 'maxFee'));
  const effect = { chainId, to: to?.toLowerCase() ?? null, value: value.toString(), data, type, isWithinCap, purpose };
  return JSON.parse(JSON.stringify({ ...effect, accessList: accessList ?? [] })) as Json;
}

async function answerTo(request: Json) {
  try {
    const read = signingRequestOf(encoded(request));
    return await checkRequest(read, heldFor(read, { ...pinned, policies: [byDevice] }));
  } catch (error) {
    if (error instanceof Malformed) return null;
    throw error;
  }
}

test.each(Object.keys(STORIES))(
  '%s: after any mutation a co-signer signs nothing that was not approved',
  async (name) => {
    expect(policyHashOf(byDevice)).toHaveLength(64);
    const chance = seededRandom(SEED);
    const honest = STORIES[name]?.() ?? null;
    const others = [...Object.values(STORIES), ...Object.values(STORIES)].map((story) => story());
    const first = await answerTo(honest);
    if (first?.ok !== true) throw new Error('what was approved is signed');
    let signed = 0;
    for (let i = 0; i < MUTATIONS; i++) {
      let request = honest;
      for (let changes = 1 + Math.floor(chance() * 3); changes > 0; changes--)
        request = mutated(chance, request, others);
      const answer = await answerTo(request);
      if (answer?.ok !== true) continue;
      signed += 1;
      const { intentDigest, signedMessages } = answer.value;
      // The mutation may have replaced the whole intent by another approved intent.
      const same = [honest, ...others].find(
        (one) => JSON.stringify(valueAt(one, ['intent'])) === JSON.stringify(valueAt(request, ['intent'])),
      );
      expect([i, same !== undefined]).toEqual([i, true]);
      if (intentDigest === first.value.intentDigest) expect([i, effectOf(request)]).toEqual([i, effectOf(honest)]);
      expect(signedMessages.length).toBe(1);
    }
    // Some mutations have no effect, such as another time of an approval. This check shows that
    // some mutated requests are signed.
    expect(signed).toBeGreaterThan(0);
    expect(signed).toBeLessThan(MUTATIONS / 2);
  },
  3_600_000,
);
