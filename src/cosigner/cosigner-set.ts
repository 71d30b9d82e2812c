import { hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerIdentity, PeerIdentity } from '#mpc/envelope.ts';
import { isUsableKey } from '#mpc/channel.ts';
import { importIdentity, importPeer } from '#mpc/envelope.ts';
import { type PartyIndex, parsePartyIndex } from '#mpc/party.ts';
import { isRecoveryKey } from '#mpc/recovery/package.ts';
import type { KeyEncryptionSecret } from '#mpc/share.ts';
import type { FeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import { parseFeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { parseJsonSetting } from '#domain/json/json-setting.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import type { ForeignSettings } from '#domain/operations/setting-fault.ts';
import { refuseForeign } from '#domain/operations/setting-fault.ts';
import type { PublicIdentity } from '#mpc/identity.ts';
import { identitySecrets, publicIdentity } from '#mpc/identity.ts';

/** The identity of this co-signer and the pinned identities of its peers. */
export interface CosignerSet {
  readonly own: CosignerIdentity;
  readonly peers: ReadonlyMap<PartyIndex, PeerIdentity>;
  /** Every co-signer, this one included, in order. */
  readonly parties: readonly PartyIndex[];
  /** Ed25519 identity key of each co-signer in order, lower-case hex. */
  readonly signingKeys: ReadonlyMap<PartyIndex, string>;
  /** X25519 key of each co-signer in order, lower-case hex. */
  readonly exchangeKeys: ReadonlyMap<PartyIndex, string>;
  readonly keyEncryption: readonly KeyEncryptionSecret[];
  /** Hex; null when no recovery packages are sealed. */
  readonly recoveryKey: string | null;
  /** Unix milliseconds. An older share is not used. */
  readonly sharesSinceMs: number;
  /** The largest fees that this co-signer signs, where they differ from the defaults. */
  readonly feeCeilings: FeeCeilings;
}

/** A co-signer with the secret of the coordinator would be it as well, after one theft. */
export const OF_COORDINATORS: ForeignSettings = {
  names: ['COORDINATOR_SECRET', 'TOKEN_MAC_KEY', 'SERVICE_KEY_HASHES'],
  fault: (name) => `${name} must not be set at a co-signer`,
};

/**
 * Returns the settings of this co-signer. Throws when they are inconsistent: a co-signer with wrong
 * settings refuses everything.
 */
export async function loadCosignerSet(env: CosignerConfig): Promise<CosignerSet> {
  const index = ownIndex(env.NODE_INDEX);
  refuseForeign(env, OF_COORDINATORS);
  if (!isHex32(env.IDENTITY_SECRET)) throw new Error('IDENTITY_SECRET must be 32 bytes in hex');
  if (isZero(env.IDENTITY_SECRET)) throw new Error('IDENTITY_SECRET must be random, and not zero');
  const pinned = pinnedPeers(env.PEERS);
  const mine = pinned.get(index);
  const expected = publicIdentity(env.IDENTITY_SECRET);
  if (mine?.signing !== expected.signing || mine.exchange !== expected.exchange) {
    throw new Error('PEERS must have the keys of this co-signer under its own index');
  }
  const own = await importIdentity(index, identitySecrets(env.IDENTITY_SECRET));
  const peers = new Map<PartyIndex, PeerIdentity>();
  for (const [party, keys] of pinned) {
    if (party !== index) {
      const bytes = { signing: hexToBytes(keys.signing), exchange: hexToBytes(keys.exchange) };
      const peer = await importPeer(party, bytes);
      if (!(await isUsableKey(own, peer)))
        throw new Error(`PEERS must not pin an exchange key of small order for ${party}`);
      peers.set(party, peer);
    }
  }
  return {
    own,
    peers,
    parties: [...pinned.keys()],
    signingKeys: new Map([...pinned].map(([party, { signing }]) => [party, signing])),
    exchangeKeys: new Map([...pinned].map(([party, { exchange }]) => [party, exchange])),
    keyEncryption: keyEncryptionSecrets(env.KEY_ENCRYPTION_SECRETS),
    recoveryKey: recoveryKeyOf(env.RECOVERY_KEY ?? ''),
    sharesSinceMs: timeOf(env.SHARES_SINCE ?? ''),
    feeCeilings: parseFeeCeilings(env.MAX_FEES ?? ''),
  };
}

/**
 * Returns a function that maps a co-signer to its signing key in hex. It parses the setting once,
 * because every round of a signature calls it. It throws for a co-signer that is not pinned.
 */
export function pinnedSigningKeys({ PEERS }: Pick<CosignerConfig, 'PEERS'>): (party: PartyIndex) => string {
  let pinned: ReturnType<typeof pinnedPeers> | null = null;
  return (party) => {
    pinned ??= pinnedPeers(PEERS);
    const keys = pinned.get(party);
    if (keys === undefined) throw new Error('the co-signer is not pinned');
    return keys.signing;
  };
}

export function ownIndex(text: string): PartyIndex {
  const index = parsePartyIndex(Number.parseInt(text, 10));
  if (index === null) throw new Error('NODE_INDEX must be from 1 to 5');
  return index;
}

export function pinnedPeers(text: string): ReadonlyMap<PartyIndex, PublicIdentity> {
  const setting = parseJsonSetting('PEERS', text);
  const entries = typeof setting === 'object' && setting !== null ? Object.entries(setting) : [];
  const peers = new Map<PartyIndex, PublicIdentity>();
  for (const [i, [name, keys]] of entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).entries()) {
    const party = parsePartyIndex(i + 1);
    const { signing, exchange } = isJsonObject(keys) ? keys : {};
    if (party === null || name !== String(party) || !isHex32(signing) || !isHex32(exchange))
      throw new Error('PEERS must name co-signers 1 to n with two keys each');
    peers.set(party, { signing, exchange });
  }
  if (peers.size < 2) throw new Error('PEERS must name at least two co-signers');
  // One secret would count as two of the group that signs.
  for (const field of ['signing', 'exchange'] as const) {
    const [first, second] = equalKeys(peers, field);
    if (first !== undefined) throw new Error(`PEERS must not have the same ${field} key for ${first} and ${second}`);
  }
  return peers;
}

/** Returns two co-signers with the same key, or none. */
function equalKeys(peers: ReadonlyMap<PartyIndex, PublicIdentity>, field: keyof PublicIdentity): readonly PartyIndex[] {
  const owners = new Map<string, PartyIndex>();
  for (const [party, keys] of peers) {
    const owner = owners.get(keys[field]);
    if (owner !== undefined) return [owner, party];
    owners.set(keys[field], party);
  }
  return [];
}

export function isHex32(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** Other forms are read differently by different people: 12/11/2026. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

const MAX_AHEAD_MS = 60 * 60 * 1000;

export function timeOf(text: string): number {
  if (text === '') return 0;
  const timeMs = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(timeMs)) throw new Error('SHARES_SINCE must be a time such as 2026-11-22T10:00:00Z');
  // Every share would be too old, and this co-signer would sign nothing. Clocks differ a little.
  if (timeMs > Date.now() + MAX_AHEAD_MS) throw new Error('SHARES_SINCE must not be in the future');
  return timeMs;
}

export function recoveryKeyOf(text: string): string | null {
  if (text !== '' && !isHex32(text)) throw new Error('RECOVERY_KEY must be 32 bytes in hex');
  if (text !== '' && !isRecoveryKey(text)) throw new Error('RECOVERY_KEY has a small order, or is not canonical');
  return text === '' ? null : text;
}

export function keyEncryptionSecrets(text: string): readonly KeyEncryptionSecret[] {
  const setting = parseJsonSetting('KEY_ENCRYPTION_SECRETS', text);
  if (Array.isArray(setting) && setting.length > 0 && setting.every(isKeyEncryptionSecret)) {
    if (setting.some(({ secret }) => isZero(secret)))
      throw new Error('KEY_ENCRYPTION_SECRETS must be random, and not zero');
    // The first one of an id is used, so a share of the second one would not open.
    if (new Set(setting.map(({ id }) => id)).size < setting.length)
      throw new Error('KEY_ENCRYPTION_SECRETS must not have an id twice');
    return setting;
  }
  throw new Error('KEY_ENCRYPTION_SECRETS must be a list of { id, secret }');
}

function isZero(secret: string): boolean {
  return /^0+$/.test(secret);
}

function isKeyEncryptionSecret(value: unknown): value is KeyEncryptionSecret {
  return isJsonObject(value) && typeof value['id'] === 'string' && isHex32(value['secret']);
}
