import * as z from 'zod';
import { chainClientFor } from '#chains/clients/client-for.ts';
import type { ChainClient, PreparationFault } from '#chains/chain-client.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { bytesOfCreation } from '#domain/access/rate-limit.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { FieldReader } from '#chains/families/field-reader.ts';
import { fieldReader } from '#chains/families/field-reader.ts';
import { idempotencyOf, malformedKey } from '#http/edge/idempotency.ts';
import { callObject } from '#http/edge/object-call.ts';
import { plainText } from '#http/encode/plain-text.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { maxFeeDetails, problem, refusalProblem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { lockedUtxosOf } from '#http/transaction/locked-utxos.ts';
import { recordOf } from '#http/transaction/transaction-path.ts';
import type { Action, OnChainIntent } from '#domain/transaction/intent.ts';
import { MAX_APPROVAL_LIFETIME_MS } from '#domain/transaction/intent.ts';
import type { Speed } from '#domain/transaction/transaction.ts';
import { SPEEDS } from '#domain/transaction/transaction.ts';
import { largestFeeFor } from '#domain/wallet/fee-cap.ts';
import type { CreationRequest } from '#objects/vault/writes/new-transaction.ts';
import type { CreationAdmission } from '#objects/person/budgets.ts';
import type { CreationKey } from '#objects/person/creation-keys.ts';
import type { PersonStub } from '#objects/person/stub.ts';
import { personStub } from '#objects/person/stub.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/** The vault and the chain, in every body that creates a transaction and in the fee estimate. */
export const targetFields = {
  vaultId: z.int().positive(),
  chain: z.string().min(1).max(64),
};

/** The optional fields that every body that creates a transaction shares. */
export const creationFields = {
  ...targetFields,
  note: plainText(500).nullish(),
  externalId: z
    .string()
    .regex(/^[!-~]{1,128}$/, 'Must have 1 to 128 printable ASCII characters.')
    .nullish(),
};

/** The refusals of a creation by the chain, by the vault and for a repeated request. */
export const CREATION_REFUSALS = [
  'not-on-this-chain',
  'forbidden',
  'idempotency-key-reused',
  'external-id-taken',
  'not-after-passed',
  'chain-not-enabled',
  'wallet-not-ready',
  'too-many-pending',
  'too-many-own-pending',
  'recipient-is-token',
  'recipient-looks-alike',
  'max-fee-above-cap',
  'policy-forbids',
  'insufficient-funds',
  'would-revert',
  'max-fee-too-low',
  'allowance-not-zero',
  'chain-unavailable',
] as const;

export const addressField = z.string().min(1).max(128);
export const amountField = z.string().min(1).max(128);

/** The largest fee, in every body that creates a transaction which pays one. */
export const feeFields = {
  maxFee: amountField.nullish().meta({
    description:
      'The most that the transaction may pay as its fee, in the smallest unit of the chain; part of the approved ' +
      'intent. No attempt and no speed-up passes it. When absent, the smaller one of the fee cap of the chain and ' +
      'that of the policy.',
  }),
};

/** The fields of a body that deals with addresses. */
export const counterpartyFields = {
  ...creationFields,
  ...feeFields,
  acceptLookalikeOf: z.string().min(1).max(128).nullish(),
  speed: z
    .enum(SPEEDS)
    .optional()
    .meta({ description: 'The estimated fee to offer to the network; normal when absent' }),
  notAfter: z.iso
    .datetime()
    .nullish()
    .meta({
      description:
        'Nothing that pays is signed or sent from this time on, and a transaction that is still unmined ' +
        'is cancelled at its nonce. Signers can approve until this time at most. It is part of the approved intent, ' +
        'and at most 90 days from now.',
    }),
};

export interface CreationBody {
  readonly vaultId: number;
  readonly chain: string;
  readonly note?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly acceptLookalikeOf?: string | null | undefined;
  readonly speed?: Speed | undefined;
  /** ISO 8601, checked by the schema. */
  readonly notAfter?: string | null | undefined;
  readonly maxFee?: string | null | undefined;
  /** The inputs of a consolidation: see `CreationRequest`. */
  readonly joins?: number;
  readonly includeMayCarryMore?: true;
}

/** Reads the action that a body requests. */
export interface ActionReader {
  readonly kind: Action['kind'];
  /** Returns the action, normalised by its chain, or null after it has noted every fault. */
  readonly read: (reader: FieldReader) => Action | null;
}

/**
 * Creates a transaction of any kind. Responds with 201 and the record. A repeated Idempotency-Key
 * gives the first response again, marked with `Idempotency-Replayed`. A transaction that would fail
 * on its chain is refused before anything is stored.
 *
 * Refuses, in order, `CREATION_REFUSALS`, with `invalid-request` after the first.
 */
export async function create(context: HttpContext, body: CreationBody, action: ActionReader): Promise<Response> {
  const rules = rulesOf(context, body);
  if (!rules.ok) return invalidRequest(context, rules.refusal);
  const { chain, kinds } = rules.value;
  if (!kinds.includes(action.kind)) {
    const detail = `Transactions of kind ${action.kind} are not supported on ${chain.name}.`;
    return problem(context, 'not-on-this-chain', { detail });
  }
  const read = readCreation(rules.value, body, action);
  if (!read.ok) return invalidRequest(context, read.refusal);
  const idempotency = idempotencyOf(context);
  if (idempotency === 'malformed') return malformedKey(context);
  const { vaultId, creation } = read.value;
  const request = { ...creation, idempotency };
  const rehearsed = await precheckOnChain(context, { chain, vaultId }, request);
  if (!rehearsed.ok) return rehearsed.refusal;
  const binding = idempotency === null ? null : { key: idempotency.key, vaultId };
  const unadmitted = await admit(context, binding);
  if (unadmitted !== null) return unadmitted;
  const actor = actorOf(context);
  const created = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'createTransaction', request: { ...request, ...rehearsed.value } }),
  );
  if (!created.ok) {
    // A refused request does not use its key: the caller may send it for the right vault.
    const isFree = created.refusal.code !== 'idempotency-key-reused';
    if (binding !== null && isFree) await callPerson(context, (person) => person.releaseCreationKey(binding));
    return refusalProblem(context, created.refusal);
  }
  const { view, replayed } = created.value;
  if (replayed) context.header('idempotency-replayed', 'true');
  context.header('location', `/transaction/${view.transaction.id}`);
  return context.json(recordOf(context, view), 201);
}

/** Counts the creation at its person. Returns the problem of one that is refused there. */
async function admit(context: HttpContext, key: CreationKey | null): Promise<Response | null> {
  const credential = context.get('caller').token === null ? 'session' : 'token';
  const bytes = bytesOfCreation(context.get('body'));
  const admission = await callPerson<CreationAdmission>(context, (person) =>
    person.admitCreation({ key, credential, bytes }),
  );
  if (admission.outcome === 'admitted') return null;
  if (admission.outcome === 'key-of-another-vault') return problem(context, 'idempotency-key-reused');
  const { quota, resetSeconds } = admission;
  return problem(context, 'quota-exceeded', {
    detail: `The user has created ${quota} bytes in 24 hours, which is the limit. Nothing was stored.`,
    headers: { 'retry-after': String(resetSeconds) },
    members: { 'violated-policies': ['created-bytes'] },
  });
}

/** Calls the object of the person, which knows the keys of all vaults. A vault knows its own. */
function callPerson<T>(context: HttpContext, call: (person: PersonStub) => Promise<T>): Promise<T> {
  return callObject(() => personStub(context.env, actorOf(context).userId), call);
}

/** A body with every value parsed. */
interface ReadCreation {
  readonly vaultId: VaultId;
  readonly creation: Omit<CreationRequest, 'idempotency'>;
}

/** Returns the rules of the chain that a body names, or its fault when the chain is not known. */
export function rulesOf(
  context: HttpContext,
  { chain: name }: Pick<CreationBody, 'chain'>,
): Result<ChainRules, readonly FieldFault[]> {
  const chains = chainsFrom(context.env);
  const chain = findChain(chains, name);
  if (chain !== null) return accepted(rulesFor(chain));
  const detail = `The chain is not known. Known chains: ${chains.map((known) => known.name).join(', ')}.`;
  return refused([{ pointer: '/chain', code: 'unknown-chain', detail }]);
}

/** Returns the body with every value parsed by the rules, or all faults of the body. */
export function readCreation(
  rules: ChainRules,
  body: CreationBody,
  actionReader: ActionReader,
): Result<ReadCreation, readonly FieldFault[]> {
  const faults: FieldFault[] = [];
  const reader = fieldReader(rules, faults);
  const vaultId = parseVaultId(body.vaultId);
  if (vaultId === null) {
    reader.fault({ pointer: '/vaultId', code: 'invalid-id', detail: 'Must be a vault id.' });
  }
  const action = actionReader.read(reader);
  const { note = null, externalId = null, acceptLookalikeOf: named = null, speed = 'normal' } = body;
  const { joins, includeMayCarryMore } = body;
  // The known address may be one without a key, because the field only names it.
  const keyless = named === null ? null : rules.parseKeylessRecipient(named);
  const acceptLookalikeOf = named === null ? null : (keyless ?? reader.recipient(named, '/acceptLookalikeOf'));
  const notAfterMs = body.notAfter == null ? null : Date.parse(body.notAfter);
  if (notAfterMs !== null && notAfterMs > Date.now() + MAX_APPROVAL_LIFETIME_MS) {
    reader.fault({ pointer: '/notAfter', code: 'too-late', detail: 'Must be at most 90 days from now.' });
  }
  const maxFee = body.maxFee == null ? null : reader.amount(body.maxFee, '/maxFee', '1');
  if (faults.length > 0 || vaultId === null || action === null) return refused(faults);
  const creation = { chain: rules.chain.name, action, note, externalId, acceptLookalikeOf, speed, notAfterMs };
  const consolidated = {
    ...(joins === undefined ? {} : { joins }),
    ...(includeMayCarryMore === undefined ? {} : { includeMayCarryMore }),
  };
  const bounded = maxFee === null ? {} : { maxFee };
  return accepted({ vaultId, creation: { ...creation, ...consolidated, ...bounded } });
}

/**
 * Checks the transaction against the current state of its chain and estimates its virtual size.
 * Returns a problem when it would fail, and for a chain without RPC nodes, on which no payment is
 * signed: signers would approve what only waits. A message needs no RPC node, and neither does a
 * repetition, which gets its first record. A fee above the cap is no refusal here, because fees can
 * fall again while signers approve. One above the `maxFee` of the caller is, as long as the caller
 * can raise it: otherwise signers would approve what waits. Funds that are reserved or not yet
 * confirmed are no refusal, because they can become available meanwhile.
 */
async function precheckOnChain(
  context: HttpContext,
  { chain, vaultId }: { readonly chain: Chain; readonly vaultId: VaultId },
  request: CreationRequest,
): Promise<Result<Pick<CreationRequest, 'virtualSize'>, Response>> {
  if (request.action.kind === 'message') return accepted({});
  const actor = actorOf(context);
  const rehearsed = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'previewCreation', request }),
  );
  if (!rehearsed.ok) return refused(refusalProblem(context, rehearsed.refusal));
  const { view, replayed } = rehearsed.value;
  const { intent } = view.transaction;
  if (replayed || intent.kind === 'message') return accepted({});
  const client = chainClientFor(context.env, chain);
  if (client === null) return refused(nodeProblem(context, chain));
  const { speed, joins = 0, includeMayCarryMore = false } = request;
  const locked = await lockedUtxosOf(context, { chain, vaultId });
  const quote = await client.quote(intent, null, { speed, joins, includeMayCarryMore, locked });
  const isTooDear = !quote.ok && quote.refusal.kind === 'permanent' && quote.refusal.reason === 'FEE_CAP_EXCEEDED';
  if (!quote.ok && quote.refusal.kind !== 'busy' && !isTooDear) return refused(chainProblem(context, quote.refusal));
  const { virtualSize: quoted = null } = quote.ok ? quote.value : {};
  const virtualSize = quoted ?? (await virtualSizeOf(client, intent, locked));
  if (isTooDear && request.maxFee !== undefined) {
    const largest = largestFeeFor(chain, view.policy.rules, virtualSize === null ? null : BigInt(virtualSize));
    if (unitsOf(request.maxFee) < unitsOf(largest)) return refused(tooLow(context, quote.refusal, largest));
  }
  return accepted({ virtualSize });
}

function tooLow(context: HttpContext, { detail }: { readonly detail: string | null }, largest: Amount): Response {
  const text = `${detail ?? ''} Send a larger maxFee, up to ${largest}, or none. Nothing was stored.`.trimStart();
  return problem(context, 'max-fee-too-low', maxFeeDetails('max-fee-too-low', text, { largest }));
}

/**
 * Returns the virtual size with any UTXOs of the wallet; null on chains without virtual bytes, or
 * when no RPC node is available.
 */
async function virtualSizeOf(
  client: ChainClient,
  intent: OnChainIntent,
  locked: ReadonlySet<string>,
): Promise<string | null> {
  if (client.rules.ordering.by !== 'utxos') return null;
  const estimate = await client.estimate(intent, locked);
  return estimate.ok && 'virtualSize' in estimate.value ? estimate.value.virtualSize : null;
}

const LACKS_FUNDS: ReadonlySet<string> = new Set(['INSUFFICIENT_FUNDS', 'TOO_MANY_COINS', 'NOTHING_TO_CONSOLIDATE']);

const RETRY_SECONDS = '5';

/** Returns the problem response for a chain without RPC nodes. Only an operator can change that. */
export function nodeProblem(context: HttpContext, { name }: Pick<Chain, 'name'>): Response {
  return problem(context, 'chain-unavailable', {
    detail: `No RPC node is configured for ${name}. Nothing was stored.`,
  });
}

/** Returns the problem response of a fault that the chain reports. */
export function chainProblem(context: HttpContext, fault: PreparationFault): Response {
  if (fault.kind === 'transient') {
    const headers = { 'retry-after': RETRY_SECONDS };
    const detail = 'No RPC node of the chain is available. Nothing was stored. Try again.';
    return problem(context, 'chain-unavailable', { detail, headers });
  }
  if (fault.kind === 'busy') {
    const detail = 'The funds of the wallet are reserved by other transactions or not yet confirmed.';
    return problem(context, 'insufficient-funds', { detail });
  }
  const detail = fault.detail ?? 'The chain gave no reason.';
  if (LACKS_FUNDS.has(fault.reason)) return problem(context, 'insufficient-funds', { detail });
  if (fault.reason === 'ALLOWANCE_NOT_ZERO') return problem(context, 'allowance-not-zero', { detail });
  return problem(context, 'would-revert', { detail });
}
