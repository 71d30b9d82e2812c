import type { Actor, Approval } from '#domain/access/approval.ts';
import type { TokenId, UserId } from '#domain/id.ts';

/** A credential that a vault refuses, or a member of whom it refuses every one. */
export interface DisabledAccess {
  readonly userId: UserId;
  /** Null for every credential of the member. */
  readonly tokenId: TokenId | null;
  /** The admin of the vault; null for an operator. */
  readonly disabledBy: UserId | null;
  readonly disabledAtMs: number;
  /** When the credential is over by itself; null when no time is fixed. */
  readonly untilMs: number | null;
}

/** An act of an operator on the access of a user, in all vaults. */
export type AccessAct = (
  | { readonly kind: 'disable-user' | 'enable-user' }
  /** The operator added a token to a service account. */
  | { readonly kind: 'end-credential' | 'add-credential'; readonly tokenId: TokenId }
) & {
  /** The number of the act, which counts the acts on this user. */
  readonly version: number;
  /** The first eight hex digits of the hash of the service key. */
  readonly serviceKey: string;
  readonly atMs: number;
};

/** What an admin does to the access of a member in one vault. */
export type MemberAccessAct =
  | { readonly kind: 'disable-member' | 'enable-member' }
  | {
      readonly kind: 'end-member-credential';
      readonly tokenId: TokenId;
      /** As in `DisabledAccess`. */
      readonly untilMs: number | null;
    };

/**
 * Ours: an operator ends a credential in its object, which then refuses it permanently. A vault
 * refuses it for longer than an earlier request can last.
 */
const ENDED_CREDENTIAL_MS = 60 * 60 * 1000;

/** Reports whether a vault refuses the credential of a request. */
export function isDisabled(
  disabledAccess: readonly DisabledAccess[],
  { userId, tokenId }: Pick<Actor, 'userId' | 'tokenId'>,
): boolean {
  return disabledAccess.some((one) => one.userId === userId && (one.tokenId === null || one.tokenId === tokenId));
}

/** Reports whether a vault refuses every credential of a member. */
export function isMemberDisabled(disabledAccess: readonly DisabledAccess[], userId: UserId): boolean {
  return disabledAccess.some((one) => one.userId === userId && one.tokenId === null);
}

/**
 * Reports whether a decision on what is still undecided stops counting. A device signature proves
 * the decision without the credential that carried it, so it counts until the person is disabled.
 */
export function isWithdrawn(
  disabledAccess: readonly DisabledAccess[],
  { actor, device }: Pick<Approval, 'actor' | 'device'>,
): boolean {
  return device === null ? isDisabled(disabledAccess, actor) : isMemberDisabled(disabledAccess, actor.userId);
}

/** Returns the disabled access of a vault after an act of an operator. */
export function afterAct(
  disabledAccess: readonly DisabledAccess[],
  userId: UserId,
  act: AccessAct,
): readonly DisabledAccess[] {
  const by = { userId, disabledBy: null, disabledAtMs: act.atMs };
  const withoutUser = disabledAccess.filter(
    (one) => one.disabledBy !== null || one.tokenId !== null || one.userId !== userId,
  );
  switch (act.kind) {
    case 'enable-user':
      return withoutUser;
    case 'disable-user':
      return [...withoutUser, { ...by, tokenId: null, untilMs: null }];
    case 'add-credential':
      return disabledAccess;
    case 'end-credential':
      return [...disabledAccess, { ...by, tokenId: act.tokenId, untilMs: act.atMs + ENDED_CREDENTIAL_MS }];
  }
}

/** Returns the disabled access of a vault after an act of an admin. What an operator did stays. */
export function afterMemberAct(
  disabledAccess: readonly DisabledAccess[],
  { userId, disabledBy, nowMs }: { readonly userId: UserId; readonly disabledBy: UserId; readonly nowMs: number },
  act: MemberAccessAct,
): readonly DisabledAccess[] {
  const by = { userId, disabledBy, disabledAtMs: nowMs };
  const isByAdmin = (one: DisabledAccess) => one.disabledBy !== null && one.tokenId === null && one.userId === userId;
  switch (act.kind) {
    case 'enable-member':
      return disabledAccess.filter((one) => !isByAdmin(one));
    case 'disable-member':
      return disabledAccess.some(isByAdmin)
        ? disabledAccess
        : [...disabledAccess, { ...by, tokenId: null, untilMs: null }];
    case 'end-member-credential': {
      const { tokenId, untilMs } = act;
      return isDisabled(
        disabledAccess.filter((one) => one.tokenId !== null),
        { userId, tokenId },
      )
        ? disabledAccess
        : [...disabledAccess, { ...by, tokenId, untilMs }];
    }
  }
}
