import * as z from 'zod';
import type { InvitationAnswer } from '#domain/access/invitation.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/** The answers of a new member to a vault. Until the member accepts, the vault refuses the rest. */

const membershipSchema = z.strictObject({ vaultId: z.int(), accepted: z.boolean() }).meta({ id: 'Membership' });

type VaultInput = Input<{ params: 'vaultId' }>;

/**
 * POST /vault/{vaultId}/accept: joins a vault. From then on the vault accepts the requests of the
 * member. A repeated request changes nothing.
 */
export const acceptVault = route({
  method: 'POST',
  path: '/vault/:vaultId/accept',
  access: 'write',
  scope: 'create',
  summary: 'Accept a vault, as a new member',
  answer: { status: 200, schema: membershipSchema },
  refuses: ['forbidden'],
  handle: (context: HttpContext, { params }: VaultInput) => answered(context, params, 'accept'),
});

/**
 * POST /vault/{vaultId}/decline: leaves a vault unaccepted, and out of the lists of the member. The
 * member can still accept it. A repeated request changes nothing.
 */
export const declineVault = route({
  method: 'POST',
  path: '/vault/:vaultId/decline',
  access: 'write',
  scope: 'create',
  summary: 'Decline a vault, as a new member',
  answer: { status: 200, schema: membershipSchema },
  refuses: ['forbidden', 'vault-accepted'],
  handle: (context: HttpContext, { params }: VaultInput) => answered(context, params, 'decline'),
});

async function answered(
  context: HttpContext,
  { vaultId }: VaultInput['params'],
  answer: InvitationAnswer,
): Promise<Response> {
  const actor = actorOf(context);
  const done = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'answerInvitation', answer }),
  );
  return done.ok ? context.json({ vaultId, accepted: answer === 'accept' }) : refusalProblem(context, done.refusal);
}
