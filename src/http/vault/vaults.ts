import * as z from 'zod';
import { APPROVAL_MODES } from '#domain/access/device.ts';
import { ROLES } from '#domain/access/member.ts';
import type { VaultId } from '#domain/id.ts';
import { parseVaultId, parseVaultIdText } from '#domain/id.ts';
import { maxOwnPending } from '#domain/vault/vault.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { callObject } from '#http/edge/object-call.ts';
import { pageOf } from '#http/edge/page.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import type { Membership } from '#objects/vault/views.ts';
import { inGroups } from '#store/batched-query.ts';
import { vaultsOf } from '#store/vaults.ts';

/** The list calls the object of each vault. */
const PAGE = 50;
/** A sleeping vault takes time to wake. */
const OPENED_AT_ONCE = 20;

/** The query of a list of the vaults of the caller. */
export const vaultsQuery = z.strictObject({
  cursor: z
    .string()
    .refine((text) => parseVaultIdText(text) !== null, 'Must be a cursor of this list.')
    .optional(),
});

export const membershipField = z.enum(['accepted', 'invited', 'declined']).meta({
  description: 'Until the caller accepts the vault, it refuses every other request of the caller',
});

const vaultSchema = z
  .strictObject({
    id: z.int(),
    name: z.string(),
    state: z.enum(['ready', 'preparing']).meta({
      description: '`preparing` until every chain has an address: its signers found it, or its keys are generated',
    }),
    membership: membershipField,
    roles: z.array(z.enum(ROLES)).meta({ description: 'Roles of the caller' }),
    approvalMode: z.enum(APPROVAL_MODES),
    threshold: z.int().meta({ description: 'The approvals that every transaction requires at least' }),
    policyVersion: z.int(),
    initialState: z.enum(['DRAFT', 'SUBMITTED']).meta({ description: 'The first state of a new transaction' }),
    decisionPeriodSeconds: z.int().meta({ description: 'How long a transaction may stay undecided' }),
    wallets: z
      .array(
        z.strictObject({
          chain: z.string(),
          address: z.string().nullable().meta({
            description: 'The deposit address on this chain; null while its key is generated',
          }),
        }),
      )
      .meta({ description: 'Empty until the caller accepts the vault' }),
    pending: z
      .strictObject({
        count: z.int().meta({ description: 'Undecided transactions' }),
        limit: z.int().meta({ description: 'The maximum; the next creation is `too-many-pending`' }),
        ownCount: z.int().meta({ description: 'Those that the caller created' }),
        ownLimit: z.int().meta({ description: 'The maximum of one creator; the next one is `too-many-own-pending`' }),
      })
      .nullable()
      .meta({ description: 'Null until the caller accepts the vault' }),
  })
  .meta({ id: 'MemberVault' });

/**
 * GET /vault: returns the vaults of the caller, newest first, 50 per page, with those that the
 * caller has not accepted. A token that is limited to some vaults lists these alone. The directory
 * lists the candidates, and each vault confirms the membership, so a page may be shorter.
 */
export const listVaults = route({
  method: 'GET',
  path: '/vault',
  access: 'read',
  summary: 'List your vaults, with their deposit addresses, newest first',
  query: vaultsQuery,
  answer: {
    status: 200,
    schema: z
      .strictObject({ vaults: z.array(vaultSchema), nextCursor: z.string().nullable() })
      .meta({ id: 'MemberVaultList' }),
  },
  refuses: [],
  handle: async (context: HttpContext, { query }: Input<{ query: typeof vaultsQuery }>) => {
    const { shown, nextCursor } = await vaultPage(context, query);
    return context.json({ vaults: shown.map(({ id, membership }) => vaultRecord(id, membership)), nextCursor });
  },
});

/** GET /vault/{vaultId}: returns a vault that the caller has accepted, as `GET /vault` lists it. */
export const readVault = route({
  method: 'GET',
  path: '/vault/:vaultId',
  access: 'read',
  summary: 'Read a vault, with its deposit addresses, your roles and its limits',
  answer: { status: 200, schema: vaultSchema },
  refuses: ['forbidden'],
  handle: async (context: HttpContext, { params: { vaultId } }: Input<{ params: 'vaultId' }>) => {
    const membership = await membershipIn(context, vaultId);
    if (!membership.ok) return refusalProblem(context, membership.refusal);
    if (membership.value.invitation !== null) return problem(context, 'vault-not-accepted');
    return context.json(vaultRecord(vaultId, membership.value));
  },
});

function vaultRecord(id: VaultId, membership: Membership): z.infer<typeof vaultSchema> {
  const { policy, viewer, configuration, wallets, pending } = membership;
  const { name, chains, initialState, decisionPeriodSeconds, mostPending } = configuration;
  const state = membershipState(membership);
  const addresses = new Map(wallets.map(({ chain, address }) => [chain, address]));
  const limits = { limit: mostPending, ownLimit: maxOwnPending(configuration) };
  const isMember = state === 'accepted';
  return {
    id,
    name,
    state: chains.every((chain) => addresses.has(chain)) ? 'ready' : 'preparing',
    membership: state,
    roles: [...viewer.roles],
    approvalMode: policy.approvalMode,
    threshold: policy.threshold,
    policyVersion: policy.version,
    initialState,
    decisionPeriodSeconds,
    wallets: isMember ? chains.map((chain) => ({ chain, address: addresses.get(chain) ?? null })) : [],
    pending: isMember ? { count: pending.all, ownCount: pending.own, ...limits } : null,
  };
}

export function membershipState({ invitation }: Membership): z.infer<typeof membershipField> {
  if (invitation === null) return 'accepted';
  return invitation.isDeclined ? 'declined' : 'invited';
}

interface VaultPage {
  readonly shown: readonly { readonly id: VaultId; readonly name: string; readonly membership: Membership }[];
  readonly nextCursor: string | null;
}

/** Returns a page of the vaults of the caller, the newest first. */
export async function vaultPage(context: HttpContext, query: z.infer<typeof vaultsQuery>): Promise<VaultPage> {
  const { user, token } = context.get('caller');
  const entries = await vaultsOf(context.env.DB, user.id, {
    before: parseVaultIdText(query.cursor ?? ''),
    among: token?.vaultIds ?? null,
    // One extra row shows whether there is another page.
    limit: PAGE + 1,
  });
  const page = pageOf(entries, PAGE, ({ id }) => String(id));
  const shown: VaultPage['shown'][number][] = [];
  for (const some of inGroups(page.shown, OPENED_AT_ONCE)) {
    const found = await Promise.all(
      some.map(async ({ id, name }) => {
        const vaultId = parseVaultId(id);
        const membership = vaultId === null ? null : await membershipIn(context, vaultId);
        return vaultId === null || membership?.ok !== true ? [] : { id: vaultId, name, membership: membership.value };
      }),
    );
    shown.push(...found.flat());
  }
  return { shown, nextCursor: page.nextCursor };
}

function membershipIn(context: HttpContext, vaultId: VaultId) {
  return callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actorOf(context), { type: 'membership' }),
  );
}
