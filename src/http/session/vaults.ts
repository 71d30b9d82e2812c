import * as z from 'zod';
import { parseVaultId, parseVaultIdText } from '#domain/id.ts';
import { APPROVAL_MODES } from '#domain/access/device.ts';
import { ROLES } from '#domain/access/member.ts';
import { approvalOrigins } from '#devices/approval-origin.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { pageOf } from '#http/edge/page.ts';
import { callObject } from '#http/edge/object-call.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { membersOf, vaultsOf } from '#store/vaults.ts';

/** The list calls the object of each vault. */
const PAGE = 50;

const vaultsQuery = z.strictObject({
  cursor: z
    .string()
    .refine((text) => parseVaultIdText(text) !== null, 'Must be a cursor of this list.')
    .optional(),
});

const vaultSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    roles: z.array(z.enum(ROLES)).meta({ description: 'Roles of the caller' }),
    threshold: z.int(),
    approvalMode: z.enum(APPROVAL_MODES),
    wallets: z.array(z.strictObject({ chain: z.string(), address: z.string() })),
    members: z.array(z.strictObject({ userId: z.string(), name: z.string() })),
  })
  .meta({ id: 'OwnVault' });

/**
 * GET /session/vaults: returns the vaults of the logged-in user for the dashboard, newest first, 50
 * per page. The directory lists the candidates, and each vault confirms the membership, so a page
 * may be shorter.
 */
export const ownVaults = route({
  method: 'GET',
  path: '/session/vaults',
  access: 'read',
  sessionOnly: true,
  summary: 'List your vaults',
  query: vaultsQuery,
  answer: {
    status: 200,
    schema: z.strictObject({
      data: z.array(vaultSchema),
      nextCursor: z.string().nullable(),
      approvalOrigin: z.string().nullable().meta({
        description:
          'Origin of the preferred approval page, where passkeys are created and used; null: no passkeys can be used',
      }),
      approvalOrigins: z.array(z.string()).meta({ description: 'Origins of all approval pages, preferred first' }),
    }),
  },
  refuses: [],
  handle: list,
});

async function list(context: HttpContext, { query }: Input<{ query: typeof vaultsQuery }>): Promise<Response> {
  const actor = actorOf(context);
  const { cursor = '' } = query;
  // One extra row shows whether there is another page.
  const entries = await vaultsOf(context.env.DB, actor.userId, { before: parseVaultIdText(cursor), limit: PAGE + 1 });
  const { shown, nextCursor } = pageOf(entries, PAGE, ({ id }) => String(id));
  const listed = await membersOf(
    context.env.DB,
    shown.map(({ id }) => id),
  );
  const people = Map.groupBy(listed, ({ vaultId }) => vaultId);
  const data: z.infer<typeof vaultSchema>[] = [];
  for (const { id, name, wallets } of shown) {
    const vaultId = parseVaultId(id);
    if (vaultId === null) continue;
    const seen = await callObject(
      () => vaultStub(context.env, vaultId),
      (vault) => vault.query(actor, { type: 'projectedScope' }),
    );
    if (!seen.ok) continue;
    const { policy, viewer } = seen.value;
    const { threshold, approvalMode } = policy;
    const members = (people.get(id) ?? []).map(({ userId, name: called }) => ({ userId, name: called }));
    const about = { id, name, roles: [...viewer.roles], threshold, approvalMode };
    data.push({ ...about, wallets: [...wallets], members });
  }
  const origins = approvalOrigins(context.env);
  return context.json({ data, nextCursor, approvalOrigin: origins[0] ?? null, approvalOrigins: [...origins] });
}
