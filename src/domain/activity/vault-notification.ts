import type { CredentialReset } from '#domain/access/credential-reset.ts';
import { isInvited } from '#domain/access/invitation.ts';
import type { Role } from '#domain/access/member.ts';
import type { Notification } from '#domain/activity/notification.ts';
import type { UserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { joinedMembers } from '#domain/vault/membership.ts';
import type { Vault } from '#domain/vault/vault.ts';

/** Notifications of events that decide who controls a vault. They contain no text of a person. */

/** An entry of the history of a vault. */
export interface VaultEvent {
  readonly action: string;
  /** The member whom the event concerns; null for none. */
  readonly userId: UserId | null;
  /** The roles that the member has after the event; empty for none, null for another event. */
  readonly roles: readonly Role[] | null;
}

/**
 * Returns the notification of a policy change in its current state, or null for a superseded one.
 * The members whom the change removes are notified, too.
 *
 * @param before the policy that the change replaces
 */
export function notificationOfChange(change: PolicyChange, vault: Vault, before: Policy): Notification | null {
  const what = WHAT[nameOf(change)];
  const state = STATES[change.state];
  if (state === null) return null;
  const { excludedMembers = [] } = change.policy.rules;
  const removed = [...before.signers, ...excludedMembers].filter((userId) => !isInvited(vault.invitations, userId));
  const concerned = [...joinedMembers(vault), ...removed];
  const isPending = change.state === 'PENDING';
  const userIds = [...new Set(concerned)].filter((userId) => !isPending || userId !== change.createdBy?.userId);
  const title = `${vault.configuration.name}: ${what} ${state}`;
  return { kind: 'policy-change', userIds, title, body: changeText(change, before) };
}

type ChangeName = 'policy' | 'founding' | 'renewal';

const WHAT: Readonly<Record<ChangeName, string>> = {
  policy: 'policy change',
  founding: 'founding of the vault',
  renewal: 'renewal of a policy mandate',
};

const STATES: Readonly<Record<PolicyChange['state'], string | null>> = {
  PENDING: 'proposed',
  ADOPTED: 'adopted',
  REJECTED: 'rejected',
  CANCELLED: 'cancelled',
  EXPIRED: 'expired',
  // The members are notified of the change that was adopted in its place.
  SUPERSEDED: null,
};

function nameOf({ renewsVersion }: PolicyChange): ChangeName {
  if (renewsVersion === undefined) return 'policy';
  return renewsVersion === 1 ? 'founding' : 'renewal';
}

function changeText(change: PolicyChange, before: Policy): string {
  const [was, is] = [signersText(before), signersText(change.policy)];
  const removed = before.signers.filter((userId) => !change.policy.signers.includes(userId)).length;
  const number = `Policy version ${change.policy.version}.`;
  if (nameOf(change) !== 'policy') return `${number} Signers: ${is}.`;
  const left = removed === 0 ? '' : ` It removes ${removed} of ${before.signers.length} signers.`;
  return was === is ? `${number}${left}` : `${number} ${was} signers becomes ${is}.${left}`;
}

function signersText({ threshold, signers }: Policy): string {
  return `${threshold} of ${signers.length}`;
}

/**
 * Returns the notification of an event of the vault, or null for one without a notification. The
 * member whom the event concerns is notified, too, also when the member has left or is invited.
 */
export function notificationOfEvent({ action, userId, roles }: VaultEvent, vault: Vault): Notification | null {
  const text = Object.hasOwn(EVENTS, action) ? EVENTS[action] : undefined;
  if (text === undefined) return null;
  const [title, body] = typeof text === 'function' ? text(roles ?? []) : text;
  const userIds =
    action === 'found'
      ? vault.invitations.map((invitation) => invitation.userId)
      : new Set([...joinedMembers(vault), ...(userId === null ? [] : [userId])]);
  return { kind: 'vault', userIds: [...userIds], title: `${vault.configuration.name}: ${title}`, body };
}

/** Reports whether the members are notified of an event. */
export function isNotified(action: string): boolean {
  return Object.hasOwn(EVENTS, action);
}

type EventText = readonly [title: string, body: string];

const EVENTS: Readonly<Record<string, EventText | ((roles: readonly Role[]) => EventText)>> = {
  found: ['invitation', 'An operator created this vault with you as a member. Accept or decline it in the dashboard.'],
  member: (roles) => ['members changed', memberText(roles)],
  'decline-vault': ['members changed', 'An invited member declined the vault.'],
  'disable-member': ['access changed', 'An admin disabled the access of a member to this vault.'],
  'enable-member': ['access changed', 'An admin enabled the access of a member to this vault.'],
  'end-member-credential': ['access changed', 'An admin ended a token or a session of a member in this vault.'],
  'disable-user': ['access changed', 'An operator disabled a member.'],
  'enable-user': ['access changed', 'An operator enabled a member.'],
  'end-credential': ['access changed', 'An operator ended a token or a session of a member.'],
  'add-credential': ['access changed', 'An operator added an access token to a service account.'],
};

function memberText(roles: readonly Role[]): string {
  if (roles.length === 0) return 'An operator removed a member.';
  return `An operator set the roles of a member: ${roles.join(', ')}. A new member accepts or declines the vault.`;
}

/**
 * Returns the notification of an export of recovery packages, for every member: a threshold of
 * packages is enough to rebuild the key.
 */
export function notificationOfExport(vault: Vault): Notification {
  const title = `${vault.configuration.name}: recovery packages requested`;
  const body =
    'An operator requested the recovery packages of all keys from the co-signers. If you did not expect this, ' +
    'contact your operator.';
  return { kind: 'vault', userIds: joinedMembers(vault), title, body };
}

/**
 * Returns the notification of a credential reset. All members are notified of each step, and any of
 * them can cancel the reset while it is pending.
 */
export function notificationOfReset({ state, userName }: CredentialReset, vault: Vault): Notification {
  const title = `${vault.configuration.name}: ${RESET_TITLES[state]}`;
  return { kind: 'credential-reset', userIds: joinedMembers(vault), title, body: RESET_TEXTS[state](userName) };
}

const RESET_TITLES = {
  PENDING: 'credential reset requested',
  COMPLETED: 'credential reset completed',
  CANCELLED: 'credential reset cancelled',
  EXPIRED: 'credential reset expired',
} as const;

const RESET_TEXTS = {
  PENDING: (name: string) =>
    `An operator requested new credentials for ${name}. Cancel the reset if ${name} did not ask for it.`,
  COMPLETED: (name: string) => `An operator received new credentials for ${name}.`,
  CANCELLED: (name: string) => `The request for new credentials for ${name} was cancelled.`,
  EXPIRED: (name: string) => `The new credentials for ${name} were not collected in time.`,
} as const;
