import { chainsFrom } from '#chains/families/registry.ts';
import { parseKeyId, parseVaultId } from '#domain/id.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { ChangeSignal } from '#objects/vault/change-signal.ts';
import { FeedCache } from '#objects/vault/feed-cache.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { vaultFromSpec } from '#domain/vault/new-vault.ts';
import { VaultCommit } from '#objects/vault/commit.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { VaultStorage } from '#objects/vault/storage.ts';
import { alice, BY_TOKEN } from '../../domain/cast.ts';
import { memorySql } from '../memory-sql.ts';

export const WALLET = '0x1111111111111111111111111111111111111111';
export const BOB = '0x2222222222222222222222222222222222222222';
export const CAROL = '0x3333333333333333333333333333333333333333';

/**
 * Returns a real vault on real SQLite, with alice as its signer and a wallet on anvil. The Durable
 * Object around the vault and the chain are simulated.
 */
export function newVaultScene({ notificationsEnabled = true } = {}) {
  const sql = memorySql();
  const storage = new VaultStorage(sql, notificationsEnabled);
  storage.createTables();
  const [id, keyId] = [parseVaultId(7), parseKeyId('a'.repeat(26))];
  if (id === null || keyId === null) throw new Error('the ids must parse');
  const terms = { name: 'Treasury', initialState: 'SUBMITTED', decisionPeriodSeconds: 3600, mostPending: 100 } as const;
  const created = vaultFromSpec({
    id,
    reference: 'treasury',
    foundedAtMs: Date.now(),
    configuration: { ...terms, chains: ['anvil'] },
    members: [{ userId: alice.userId, roles: ['signer'] }],
    threshold: 1,
    ...BY_TOKEN,
    rules: NO_RULES,
  });
  if (!created.ok) throw new Error(created.refusal);
  const key = {
    keyId,
    scheme: 'ecdsa-secp256k1',
    publicKey: '02',
    publicShares: {},
    addresses: { anvil: WALLET },
  } as const;
  let vault: Vault = { ...created.value, invitations: [], keys: [key] };
  const commits = new VaultCommit(
    { transactionSync: (writes: () => void) => writes(), setAlarm: async () => {} } as unknown as DurableObjectStorage,
    storage,
    () => {},
  );
  const host: VaultContext = {
    storage,
    commits,
    chains: chainsFrom({}),
    changes: new ChangeSignal(),
    feed: new FeedCache(),
    vault: () => vault,
    replaceVault: (after) => void (vault = after),
    flush: async () => {},
  };
  return { sql, storage, host, replaceVault: host.replaceVault };
}
