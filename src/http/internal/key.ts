import * as z from 'zod';
import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { noSuchVault, vaultOfPath } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem } from '#http/encode/problem.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
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
 *
 * Refuses, in order: the service key, `vault-not-found`, `key-not-found`.
 */
export const readKey = route({
  method: 'GET',
  path: '/internal/vault/:vaultId/key/:keyId',
  access: 'service',
  summary: 'List the share of a key that each co-signer holds',
  answer: { status: 200, schema: keySchema },
  refuses: ['vault-not-found', 'key-not-found'],
  handle: (context) => keyAnswer(context, { isToRefresh: false }),
});

/**
 * POST /internal/vault/{vaultId}/key/{keyId}/refresh: starts a refresh that gives every co-signer a
 * new share of a key, whether it has one or not. The key and the addresses stay the same, and old
 * shares become useless. The response does not wait for the end, and a repeated request meanwhile
 * changes nothing. Every co-signer has to be available; the vault can sign during the refresh.
 *
 * Refuses as GET does.
 */
export const refreshKey = route({
  method: 'POST',
  path: '/internal/vault/:vaultId/key/:keyId/refresh',
  access: 'service',
  summary: 'Refresh the shares of a key',
  answer: { status: 202, schema: keySchema },
  refuses: ['vault-not-found', 'key-not-found'],
  handle: (context) => keyAnswer(context, { isToRefresh: true }),
});

/** Returns the key with 200, or with 202 after a refresh was requested. */
async function keyAnswer(context: HttpContext, { isToRefresh }: { readonly isToRefresh: boolean }): Promise<Response> {
  const object = vaultOfPath(context);
  const vault = object === null ? null : await callObject(object, (stub) => stub.describe());
  if (object === null || vault === null) return noSuchVault(context);
  const key = vault.keys.find(({ keyId }) => keyId === context.req.param('keyId'));
  if (key === undefined) return problem(context, 'key-not-found', { detail: 'The vault has no key with this id.' });
  const { keyId, scheme, publicKey } = key;
  if (isToRefresh) await callObject(object, (stub) => stub.requestRefresh(keyId));
  const work = await callObject(object, (stub) => stub.refreshWork());
  const shares: z.infer<typeof keySchema>['shares'] = [];
  for (const node of cosignersOf(context.env)) {
    const held = await sharesHeldBy(node, keyId);
    const all = held.ok ? held.value : [];
    shares.push({
      node: node.index,
      epoch: all.find(({ isActive }) => isActive)?.epoch ?? null,
      waiting: all.filter(({ isActive }) => !isActive).map(({ epoch }) => epoch),
      fault: held.ok ? null : held.refusal.code,
    });
  }
  const refreshing = work?.underWay.includes(keyId) ?? false;
  return context.json({ keyId, scheme, publicKey, refreshing, shares }, isToRefresh ? 202 : 200);
}
