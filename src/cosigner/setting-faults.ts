import { parseFeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import {
  isHex32,
  keyEncryptionSecrets,
  OF_COORDINATORS,
  ownIndex,
  pinnedPeers,
  recoveryKeyOf,
  timeOf,
} from '#cosigner/cosigner-set.ts';
import { logShare } from '#domain/operations/log-share.ts';
import type { SettingFault } from '#domain/operations/setting-fault.ts';
import { settingFaultsBy } from '#domain/operations/setting-fault.ts';
import { publicIdentity } from '#mpc/identity.ts';

/** The settings of a co-signer as they are before a deployment: any of them may be missing. */
type Settings = Partial<CosignerConfig>;

/**
 * Each check throws for a wrong setting, by the functions that read it. A new setting does not
 * compile without a check.
 */
const CHECKS: Readonly<Record<keyof CosignerConfig, (settings: Settings) => unknown>> = {
  NODE_INDEX: ({ NODE_INDEX: text = '' }) => ownIndex(text),
  PEERS: ({ PEERS: text = '', NODE_INDEX: own = '', IDENTITY_SECRET: secret }) => {
    const mine = [...pinnedPeers(text)].find(([party]) => String(party) === own)?.[1];
    if (mine === undefined) throw new Error('PEERS must have the keys of this co-signer under its own index');
    if (secret !== undefined && isHex32(secret) && publicIdentity(secret).signing !== mine.signing)
      throw new Error('PEERS must have the keys of IDENTITY_SECRET under the index of this co-signer');
  },
  COORDINATOR_KEY: ({ COORDINATOR_KEY: text = '' }) => {
    if (text !== '' && !isHex32(text)) throw new Error('COORDINATOR_KEY must be 32 bytes in hex');
  },
  RECOVERY_KEY: ({ RECOVERY_KEY: text = '' }) => recoveryKeyOf(text),
  SHARES_SINCE: ({ SHARES_SINCE: text = '' }) => timeOf(text),
  LOG_SHARE: ({ LOG_SHARE: text }) => logShare(text),
  MAX_FEES: ({ MAX_FEES: text = '' }) => parseFeeCeilings(text),
  IDENTITY_SECRET: ({ IDENTITY_SECRET: text, KEY_ENCRYPTION_SECRETS: others = '' }) => {
    if (!isHex32(text)) throw new Error('IDENTITY_SECRET must be 32 bytes in hex');
    if (others.includes(text)) throw new Error('IDENTITY_SECRET must not be one of KEY_ENCRYPTION_SECRETS');
  },
  KEY_ENCRYPTION_SECRETS: ({ KEY_ENCRYPTION_SECRETS: text = '' }) => keyEncryptionSecrets(text),
};

/** Returns the settings that a co-signer refuses, each one once, without a part of their values. */
export function cosignerSettingFaults(settings: Settings): readonly SettingFault[] {
  return settingFaultsBy(settings, CHECKS, OF_COORDINATORS);
}
