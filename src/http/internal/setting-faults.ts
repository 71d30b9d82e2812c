import { rpcEntries } from '#chains/clients/rpc-urls.ts';
import { contractsByChain } from '#chains/families/contracts-by-chain.ts';
import { chainsFrom } from '#chains/families/registry.ts';
import { cosignerEndpoints } from '#cosigner-client/endpoints.ts';
import { approvalOrigins } from '#devices/approval-origin.ts';
import { resetDelayMs } from '#domain/access/credential-reset.ts';
import { longestTokenDays } from '#domain/access/token-grant.ts';
import { heartbeatUrl } from '#domain/operations/heartbeat.ts';
import { logShare } from '#domain/operations/log-share.ts';
import type { ForeignSettings, SettingFault } from '#domain/operations/setting-fault.ts';
import { settingFaultsBy } from '#domain/operations/setting-fault.ts';
import { checkMacKeys, fingerprintsOf } from '#http/edge/credential-value.ts';
import { serviceKeysFrom } from '#http/edge/service-key-setting.ts';
import { loginSettings } from '#login/settings.ts';
import { endpointsFrom, monitorOf } from '#monitors/endpoint.ts';
import { alertSettings } from '#notifications/alerts/settings.ts';
import { mailSettings } from '#notifications/mail/settings.ts';
import { isKeyPair, pushSettings } from '#notifications/push/settings.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { quotasFrom } from '#objects/token/quotas.ts';
import { priceSources } from '#prices/settings.ts';

/** The bindings of the coordinator: all others of its environment are settings. */
type Binding =
  | 'DB'
  | `${string}_QUEUE`
  | `COSIGNER_${1 | 2 | 3}`
  | 'SHIELD'
  | 'METRICS'
  | 'EMAIL'
  | 'VAULT'
  | 'ACCESS_TOKEN'
  | 'SESSION'
  | 'PERSON'
  | 'WALLET_NONCE';
type SettingName = Exclude<keyof CoordinatorEnv, Binding>;

const HEX_32 = /^[0-9a-f]{64}$/;

/**
 * Each check throws for a wrong setting. They are the functions that read the settings, so a
 * setting without a fault here works. A new setting does not compile without a check.
 */
const CHECKS: Readonly<Record<SettingName, (env: CoordinatorEnv) => unknown>> = {
  RPC_URLS: checkRpcUrls,
  CHAINS: chainsFrom,
  COSIGNER_URLS: cosignerEndpoints,
  COORDINATOR_SECRET: ({ COORDINATOR_SECRET: secret, TOKEN_MAC_KEY: other }) => {
    if (secret !== undefined && !HEX_32.test(secret)) throw new Error('COORDINATOR_SECRET must be 32 bytes in hex.');
    if (secret !== undefined && secret === other) throw new Error('COORDINATOR_SECRET must not be TOKEN_MAC_KEY.');
  },
  TOKEN_MAC_KEY: ({ TOKEN_MAC_KEY: keys }) => checkMacKeys(keys),
  SERVICE_KEY_HASHES: ({ SERVICE_KEY_HASHES: setting }) => {
    const isEachHash = serviceKeysFrom(setting).every(({ hash }) => HEX_32.test(hash));
    if (!isEachHash) throw new Error('SERVICE_KEY_HASHES must have SHA-256 hashes of 64 lower-case hex digits.');
  },
  LOG_SHARE: ({ LOG_SHARE: setting }) => logShare(setting),
  RATE_LIMITS: ({ RATE_LIMITS: setting }) => {
    quotasFrom('token', setting);
    quotasFrom('session', setting);
  },
  CREDENTIAL_RESET_DELAY_SECONDS: ({ CREDENTIAL_RESET_DELAY_SECONDS: setting }) => resetDelayMs(setting),
  MAX_TOKEN_DAYS: ({ MAX_TOKEN_DAYS: setting }) => longestTokenDays(setting),
  PRICE_SOURCES: (env) =>
    priceSources(env.PRICE_SOURCES, { read: async () => null, contractsOf: contractsByChain(chainsFrom(env)) }),
  WEBHOOK_ENDPOINTS: ({ WEBHOOK_ENDPOINTS: setting }) => {
    const unknown = [...endpointsFrom(setting).values()].filter(({ provider }) => monitorOf(provider) === null);
    if (unknown.length > 0) throw new Error('WEBHOOK_ENDPOINTS must name a known provider for each endpoint.');
  },
  APPROVAL_ORIGIN: approvalOrigins,
  LOGIN: ({ LOGIN: setting }) => loginSettings(setting),
  WEB_PUSH: ({ WEB_PUSH: setting }) => {
    const keys = pushSettings(setting);
    if (keys !== null && !isKeyPair(keys)) throw new Error('WEB_PUSH must have two keys that belong together.');
  },
  HEARTBEAT_URL: ({ HEARTBEAT_URL: setting }) => heartbeatUrl(setting),
  ALERT_WEBHOOK: ({ ALERT_WEBHOOK: setting }) => alertSettings(setting),
  EMAIL_NOTIFICATIONS: ({ EMAIL_NOTIFICATIONS: setting }) => mailSettings(setting),
};

/** Secrets that make a coordinator a co-signer as well, so that one theft takes both. */
export const OF_COSIGNERS: ForeignSettings = {
  names: ['IDENTITY_SECRET', 'KEY_ENCRYPTION_SECRETS'],
  fault: (name) => `${name} must not be set at the coordinator.`,
};

/**
 * The faults by environment. The settings of an isolate never change, so the checks run once, and
 * not for each request for readiness and each sweep.
 */
const FOUND = new WeakMap<CoordinatorEnv, readonly SettingFault[]>();

/** Returns the settings that are refused when they are used, each one once. */
export function settingFaults(env: CoordinatorEnv): readonly SettingFault[] {
  const found = FOUND.get(env) ?? settingFaultsBy(env, CHECKS, OF_COSIGNERS);
  FOUND.set(env, found);
  return found;
}

/** An entry of a chain that does not exist has no effect, so it is a mistyped name. */
function checkRpcUrls(env: CoordinatorEnv): void {
  const known = new Set(chainsFrom(env).map(({ name }) => name));
  for (const { chain, fault } of rpcEntries(env)) {
    if (!known.has(chain)) throw new Error(`RPC_URLS must name known chains, and ${JSON.stringify(chain)} is none.`);
    if (fault !== null) throw new Error(fault);
  }
}

/** Returns the fingerprints of the keys in TOKEN_MAC_KEY; none when the setting is refused. */
export function fingerprintsIn({ TOKEN_MAC_KEY: keys }: Pick<CoordinatorEnv, 'TOKEN_MAC_KEY'>): readonly string[] {
  try {
    return fingerprintsOf(keys);
  } catch {
    return [];
  }
}
