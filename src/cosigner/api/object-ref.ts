import type { VaultId } from '#domain/id.ts';
import { Malformed } from '#cosigner/request-parser.ts';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * The target of a request: the policies of a vault, the share of a key (for signing, a proof or a
 * resharing), the set-up with a peer, or one run of a key generation. Each has an object; one
 * object holds all of one key.
 */
export type ObjectRef =
  | { readonly kind: 'vault'; readonly vaultId: VaultId }
  | { readonly kind: 'key' | 'proof' | 'reshare'; readonly keyId: string }
  | { readonly kind: 'pair'; readonly peer: PartyIndex }
  | { readonly kind: 'keygen'; readonly run: string };

/** Actions on a session of any object. */
export const SESSION_ACTIONS = ['open', 'start', 'round'] as const;
export type SessionAction = (typeof SESSION_ACTIONS)[number];

/** Actions on the policies of a vault. */
const VAULT_ACTIONS = ['policy', 'attest'] as const;
export type VaultAction = (typeof VAULT_ACTIONS)[number];

/** Actions on a key. */
export const KEY_ACTIONS = [
  'receipt',
  'recovery',
  'exports',
  'signed',
  'witness',
  'shares',
  'activate',
  'statement',
] as const;
export type KeyAction = (typeof KEY_ACTIONS)[number];

export const COSIGNER_ACTIONS = [...SESSION_ACTIONS, ...VAULT_ACTIONS, ...KEY_ACTIONS] as const;
export type CosignerAction = (typeof COSIGNER_ACTIONS)[number];

/** Returns the name of the object. Objects of key, proof and resharing are one. */
export function objectName(ref: ObjectRef): string {
  switch (ref.kind) {
    case 'vault':
      return `vault:${ref.vaultId}`;
    case 'key':
    case 'proof':
    case 'reshare':
      return `key:${ref.keyId}`;
    case 'pair':
      return `pair:${ref.peer}`;
    case 'keygen':
      return `keygen:${ref.run}`;
  }
}

/** Returns the key id. Throws `Malformed` for an object of another kind. */
export function keyOf(ref: ObjectRef): string {
  if (ref.kind !== 'key') throw new Malformed('not the object of a key');
  return ref.keyId;
}

/** Returns the vault. Throws `Malformed` for an object of another kind. */
export function vaultIdOf(ref: ObjectRef): VaultId {
  if (ref.kind !== 'vault') throw new Malformed('not the object of a vault');
  return ref.vaultId;
}
