import * as z from 'zod';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { operatorOf } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { noSuchVault, vaultOf } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem } from '#http/encode/problem.ts';
import type { CosignerFault } from '#cosigner-client/client.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import type { HeldShares } from '#cosigner-client/held-shares.ts';
import { sharesHeldBy } from '#cosigner-client/held-shares.ts';

const text = z.string();

const keySchema = z
  .strictObject({
    keyId: text,
    scheme: text,
    publicKey: text,
    /** True while a key refresh is in progress. */
    refreshing: z.boolean(),
    shares: z.array(
      z.strictObject({
        node: z.int(),
        /**
         * Epoch of the share that the co-signer uses; null when it has none or does not respond.
         */
        epoch: z.int().nullable(),
        /** Epochs of the shares that wait until every co-signer has its own. */
        waiting: z.array(z.int()),
        /** Reason why the co-signer reports nothing about the key. */
        fault: text.nullable(),
      }),
    ),
  })
  .meta({ id: 'VaultKey' });

/**
 * GET /internal/vault/{vaultId}/key/{keyId}: returns which share of a key each co-signer currently
 * reports to have.
 */
export const readKey = route({
  method: 'GET',
  path: '/internal/vault/:vaultId/key/:keyId',
  access: 'service',
  scope: 'vaults',
  summary: 'List the share of a key that each co-signer holds',
  answer: { status: 200, schema: keySchema },
  refuses: ['vault-not-found', 'key-not-found'],
  handle: readRequestedKey,
});

/**
 * POST /internal/vault/{vaultId}/key/{keyId}/refresh: starts a refresh that gives every co-signer a
 * new share of a key, whether it has one or not. The key and the addresses stay the same, and old
 * shares become useless. The response does not wait for the end, and a repeated request meanwhile
 * changes nothing. Every co-signer has to be available; the vault can sign during the refresh.
 */
export const refreshKey = route({
  method: 'POST',
  path: '/internal/vault/:vaultId/key/:keyId/refresh',
  access: 'service',
  scope: 'vaults',
  summary: 'Refresh the shares of a key',
  answer: { status: 202, schema: keySchema },
  refuses: ['vault-not-found', 'key-not-found'],
  handle: startRefresh,
});

/**
 * DELETE /internal/vault/{vaultId}/key/{keyId}/refresh: gives up the refresh of a key, for example
 * because one co-signer never gets a usable share. The shares in use stay in use. A repeated
 * request, and one for a key without a refresh, changes nothing and gets the same response.
 *
 * `key-refresh-activating`: co-signers may use the new shares already, so the refresh must be
 * completed.
 */
export const giveUpRefresh = route({
  method: 'DELETE',
  path: '/internal/vault/:vaultId/key/:keyId/refresh',
  access: 'service',
  scope: 'vaults',
  summary: 'Give up the refresh of a key',
  answer: { status: 200, schema: keySchema },
  refuses: ['vault-not-found', 'key-not-found', 'key-refresh-activating'],
  handle: endRefresh,
});

type KeyInput = OperatorInput<{ params: 'vaultId' | 'keyId' }>;

interface RequestedKey {
  readonly object: NonNullable<ReturnType<typeof vaultOf>>;
  readonly key: VaultKey;
}

/** Returns the key that the path names. Refuses `vault-not-found`, `key-not-found`. */
async function requestedKey(
  context: HttpContext,
  { vaultId, keyId }: KeyInput['params'],
): Promise<Result<RequestedKey, Response>> {
  const object = vaultOf(context, vaultId);
  const vault = object === null ? null : await callObject(object, (stub) => stub.work({ type: 'describeVault' }));
  if (object === null || vault === null) return refused(noSuchVault(context));
  const key = vault.keys.find((one) => one.keyId === keyId);
  if (key !== undefined) return accepted({ object, key });
  return refused(problem(context, 'key-not-found'));
}

async function readRequestedKey(context: HttpContext, { params }: KeyInput): Promise<Response> {
  const found = await requestedKey(context, params);
  return found.ok ? context.json(await keyRecord(found.value, await sharesOf(context, found.value))) : found.refusal;
}

async function startRefresh(context: HttpContext, { params }: KeyInput): Promise<Response> {
  const found = await requestedKey(context, params);
  if (!found.ok) return found.refusal;
  const { object, key } = found.value;
  await callObject(object, (stub) => stub.execute(operatorOf(context), { type: 'requestRefresh', keyId: key.keyId }));
  return context.json(await keyRecord(found.value, await sharesOf(context, found.value)), 202);
}

async function endRefresh(context: HttpContext, { params }: KeyInput): Promise<Response> {
  const found = await requestedKey(context, params);
  if (!found.ok) return found.refusal;
  const { object, key } = found.value;
  const reports = await sharesOf(context, found.value);
  const { refreshing } = await keyRecord(found.value, reports);
  if (refreshing && isActivationBegun(reports)) return mustBeCompleted(context);
  const ended = await callObject(object, (stub) =>
    stub.execute(operatorOf(context), { type: 'giveUpRefresh', keyId: key.keyId }),
  );
  return ended.ok ? context.json(await keyRecord(found.value, reports)) : mustBeCompleted(context);
}

function mustBeCompleted(context: HttpContext): Response {
  const detail = 'Co-signers may use the new shares already. Repair or replace the co-signer that the log names.';
  return problem(context, 'key-refresh-activating', { detail });
}

/** The answer of a co-signer about its shares of a key. */
interface ShareReport {
  readonly cosigner: number;
  readonly held: Result<HeldShares, CosignerFault>;
}

async function sharesOf({ env }: HttpContext, { key }: RequestedKey): Promise<readonly ShareReport[]> {
  const reports: ShareReport[] = [];
  for (const cosigner of cosignersOf(env)) {
    reports.push({ cosigner: cosigner.index, held: await sharesHeldBy(cosigner, key.keyId) });
  }
  return reports;
}

/**
 * Reports whether a co-signer already uses shares that another one only holds. The record of a
 * refresh shows this by itself, except in a vault object that was set back to an earlier state.
 *
 * The report of one co-signer is not enough, because a false one could keep a refresh from being
 * given up for ever. It must show the receipt of the other one, which a coordinator sends only to
 * activate the shares. An identity that was rotated since signs another receipt, and then the
 * change is not noticed here. The next refresh completes it.
 */
function isActivationBegun(reports: readonly ShareReport[]): boolean {
  const all = reports.flatMap(({ cosigner, held }) =>
    held.ok ? held.value.map((share) => ({ ...share, cosigner: String(cosigner) })) : [],
  );
  const waiting = all.filter(({ isActive }) => !isActive);
  return all.some(
    (used) =>
      used.isActive &&
      waiting.some(({ cosigner, epoch, statement, receipts }) => {
        const receipt = receipts[cosigner];
        const isSame = epoch === used.epoch && statement === used.statement;
        return isSame && receipt !== undefined && receipt === used.receipts[cosigner];
      }),
  );
}

async function keyRecord(
  { object, key: { keyId, scheme, publicKey } }: RequestedKey,
  reports: readonly ShareReport[],
): Promise<z.infer<typeof keySchema>> {
  const work = await callObject(object, (stub) => stub.work({ type: 'refreshWork' }));
  const shares = reports.map(({ cosigner, held }) => {
    const all = held.ok ? held.value : [];
    return {
      node: cosigner,
      epoch: all.find(({ isActive }) => isActive)?.epoch ?? null,
      waiting: all.filter(({ isActive }) => !isActive).map(({ epoch }) => epoch),
      fault: held.ok ? null : held.refusal.code,
    };
  });
  return { keyId, scheme, publicKey, refreshing: work?.underWay.includes(keyId) ?? false, shares };
}
