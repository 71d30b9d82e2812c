import type { TokenId } from '#domain/id.ts';
import type { QueueName } from '#domain/operations/queue.ts';
import type { QueuedJob } from '#objects/outbox.ts';
/**
 * A message in a queue: a hint that work is due. The consumer gets the work itself from the vault
 * object.
 */
export interface JobMessage {
  readonly vaultId: number;
  /** Null for work of the vault itself. */
  readonly transactionId: string | null;
  readonly job: QueuedJob;
}

/** A hint that the owner of an access token is to be notified. */
interface OwnerMessage {
  readonly tokenId: TokenId;
}

/**
 * A hint that a delivery of a monitor, or a scan, is due. The row has its content. A delivery whose
 * row names another time than `dueAtMs` was tried since the message was sent.
 */
export type ActivityMessage = { readonly deliveryId: string; readonly dueAtMs?: number } | { readonly scanId: string };

/** A test message: its consumer records that it came back. */
export interface QueueProbe {
  readonly probe: QueueName;
  readonly sentAtMs: number;
}

/**
 * The settings, secrets, database and queues of the coordinator (wrangler.toml). It holds no key
 * material.
 */
export interface CoordinatorConfig {
  readonly DB: D1Database;
  readonly SIGNING_QUEUE: Queue<JobMessage | QueueProbe>;
  readonly CONFIRMATION_QUEUE: Queue<JobMessage | QueueProbe>;
  readonly NOTIFICATION_QUEUE: Queue<JobMessage | OwnerMessage | QueueProbe>;
  readonly ACTIVITY_QUEUE: Queue<ActivityMessage | QueueProbe>;
  /**
   * Co-signers in this account. With a fourth, a key would need more calls than one request may
   * make through bindings: further co-signers have URLs.
   */
  readonly COSIGNER_1?: Fetcher;
  readonly COSIGNER_2?: Fetcher;
  readonly COSIGNER_3?: Fetcher;
  /**
   * JSON: number of a co-signer in another account to its origin. Empty or absent: all are bound.
   */
  readonly COSIGNER_URLS?: string;
  /**
   * Secret, hex of 32 bytes: signs requests to co-signers, which pin its public key
   * (COORDINATOR_KEY).
   */
  readonly COORDINATOR_SECRET?: string;
  /**
   * Coarse limit for each address on requests without a valid credential, and for each service key.
   * The token's object counts the limits of spec part 8.
   */
  readonly SHIELD: RateLimit;
  /** The data set of the metrics (`metrics.ts`). Nothing is counted when it is absent. */
  readonly METRICS?: AnalyticsEngineDataset;
  /**
   * JSON: chain name to the endpoints of its RPC nodes, in order of preference. Never taken from a
   * caller.
   */
  readonly RPC_URLS: string;
  /** JSON: chain rows that add to the registry or replace its rows. Empty for none. */
  readonly CHAINS?: string;
  /**
   * The share of requests, jobs and changes of state that have a log line, from 0 to 1
   * (domain/operations/log-share.ts). Empty: none has one.
   */
  readonly LOG_SHARE?: string;
  /** JSON: rate-limit policy to quota. Empty for the defaults of spec part 8. */
  readonly RATE_LIMITS?: string;
  /**
   * Whole seconds between the request of a credential reset and its effect
   * (domain/access/credential-reset.ts). Empty or absent: 24 hours.
   */
  readonly CREDENTIAL_RESET_DELAY_SECONDS?: string;
  /** The longest life of an access token, in days. Empty: no limit. */
  readonly MAX_TOKEN_DAYS?: string;
  /**
   * JSON: price sources, in order of preference (prices/settings.ts). Empty or absent: nothing has
   * a price.
   */
  readonly PRICE_SOURCES?: string;
  /**
   * Hex of 32 bytes, or several with commas: keys of the short code inside every token value, so
   * that a mistyped one is refused without a look-up. The first makes new values.
   */
  readonly TOKEN_MAC_KEY: string;
  /**
   * JSON: endpoint id to `{ provider, secrets }` of the monitors that may deliver. Empty or absent:
   * none may.
   */
  readonly WEBHOOK_ENDPOINTS?: string;
  /**
   * Origin of the approval page, where passkeys are created and used, or two origins with a space
   * between them, the preferred one first. Empty or absent: passkeys cannot be used.
   */
  readonly APPROVAL_ORIGIN?: string;
  /** JSON: `{ issuer, clientId, clientSecret? }` of OpenID Connect. Empty or absent: no login. */
  readonly LOGIN?: string;
  /**
   * JSON: `{ subject, publicKey, privateKey, services? }` of Web Push (VAPID, RFC 8292). Empty or
   * absent: no push notifications.
   */
  readonly WEB_PUSH?: string;
  /**
   * JSON: `{ provider, from, dashboard, token? }` of the e-mails to members without a subscribed
   * browser. Empty or absent: no e-mails.
   */
  readonly EMAIL_NOTIFICATIONS?: string;
  /** The binding of the platform that sends e-mails; absent where another provider does. */
  readonly EMAIL?: SendEmail;
  /**
   * Secret: the URL of a check that is called after each sweep (jobs/operations/heartbeat.ts).
   * Empty or absent: none is called.
   */
  readonly HEARTBEAT_URL?: string;
  /**
   * Secret, JSON: the receiver of alerts (notifications/alerts/settings.ts). Empty or absent:
   * alerts are in the log and in the status alone.
   */
  readonly ALERT_WEBHOOK?: string;
  /**
   * The service keys that open the internal interface, as JSON: `[{ hash, scopes, addresses? }]`.
   * Or hex SHA-256 with commas, of keys with every scope (http/edge/service-key-setting.ts).
   */
  readonly SERVICE_KEY_HASHES: string;
}
