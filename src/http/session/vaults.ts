import * as z from 'zod';
import { skeletonOf } from '#chains/inspect/confusable.ts';
import { APPROVAL_MODES } from '#domain/access/device.ts';
import { ROLES } from '#domain/access/member.ts';
import { approvalOrigins } from '#devices/approval-origin.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { membershipField, membershipState, vaultPage, vaultsQuery } from '#http/vault/vaults.ts';
import type { MemberName } from '#store/vaults.ts';
import { membersOf, vaultsOf } from '#store/vaults.ts';

const vaultSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    roles: z.array(z.enum(ROLES)).meta({ description: 'Roles of the caller' }),
    threshold: z.int(),
    approvalMode: z.enum(APPROVAL_MODES),
    membership: membershipField,
    namesakes: z.array(z.int()).meta({
      description: 'The other vaults of the caller whose names are the same or look the same',
    }),
    wallets: z
      .array(z.strictObject({ chain: z.string(), address: z.string() }))
      .meta({ description: 'Empty until the caller accepts the vault' }),
    members: z.array(
      z.strictObject({
        userId: z.string(),
        name: z.string(),
        hasNamesake: z.boolean().meta({ description: 'True when the name of another member looks the same' }),
      }),
    ),
  })
  .meta({ id: 'OwnVault' });

/**
 * GET /session/vaults: returns the vaults of the logged-in user for the dashboard, newest first, 50
 * per page, with those that the user has not accepted. The directory lists the candidates, and each
 * vault confirms the membership, so a page may be shorter.
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
  const { DB: db } = context.env;
  const [{ shown, nextCursor }, named] = await Promise.all([
    vaultPage(context, query),
    vaultsOf(db, actorOf(context).userId, { before: null, among: null, limit: null }),
  ]);
  const listed = await membersOf(
    db,
    shown.map(({ id }) => id),
  );
  const people = Map.groupBy(listed, ({ vaultId }) => vaultId);
  const sameNames = Map.groupBy(named, ({ name }) => skeletonOf(name));
  const data = shown.map(({ id, name, membership }): z.infer<typeof vaultSchema> => {
    const { policy, viewer, wallets } = membership;
    const namesakes = (sameNames.get(skeletonOf(name)) ?? []).map((other) => other.id).filter((other) => other !== id);
    return {
      id,
      name,
      roles: [...viewer.roles],
      threshold: policy.threshold,
      approvalMode: policy.approvalMode,
      members: withNamesakes(people.get(id) ?? []),
      namesakes,
      membership: membershipState(membership),
      wallets: [...wallets],
    };
  });
  const origins = approvalOrigins(context.env);
  return context.json({ data, nextCursor, approvalOrigin: origins[0] ?? null, approvalOrigins: [...origins] });
}

/** Returns the members of a vault, each with whether another one has a name that looks the same. */
function withNamesakes(members: readonly MemberName[]) {
  const alike = [...Map.groupBy(members, ({ name }) => skeletonOf(name)).values()];
  const namesakes = new Set(alike.filter((some) => some.length > 1).flat());
  return members.map((member) => ({
    userId: member.userId,
    name: member.name,
    hasNamesake: namesakes.has(member),
  }));
}
