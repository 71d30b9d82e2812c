import type { DeviceSignature } from '#domain/access/device.ts';
import type { TokenId, UserId } from '#domain/id.ts';

/** The user who made a decision, and the token of the request. */
export interface Actor {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  /**
   * The source address of the request, as the platform reports it. It is stored for the audit and
   * decides nothing.
   */
  readonly address: string | null;
}

/** The holder of a service key. */
export interface Operator {
  /** The first eight hex digits of the hash of the key, which identify it and give no access. */
  readonly serviceKey: string;
  readonly address: string | null;
}

/** Returns an operator as the history names one. */
export function operatorText({ serviceKey, address }: Operator): string {
  return `service-key ${serviceKey}${address === null ? '' : ` ${address}`}`;
}

export interface Approval {
  readonly actor: Actor;
  /** Lower-case hex digest of the intent that is approved or rejected. */
  readonly digest: string;
  /**
   * The signature of the digest by a device of the user; null for a decision that only the
   * coordinator vouches for.
   */
  readonly device: DeviceSignature | null;
  readonly atMs: number;
}

export interface Rejection extends Approval {
  /** Why, in the words of the person. No device signs it. Absent without a reason. */
  readonly reason?: string;
}
