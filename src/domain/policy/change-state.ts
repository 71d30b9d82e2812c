/**
 * `SUPERSEDED`: another change was adopted first, so this one follows a policy that is no longer in
 * force.
 */
export const POLICY_CHANGE_STATES = ['PENDING', 'ADOPTED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'SUPERSEDED'] as const;
export type PolicyChangeState = (typeof POLICY_CHANGE_STATES)[number];
