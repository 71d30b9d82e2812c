/** What travels in the queues: a hint that work is due. The vault object, asked by the consumer, says what the work is. */
export interface JobMessage {
  readonly vaultId: number;
  /** Null for work of the vault itself. */
  readonly transactionId: string | null;
  readonly job:
    | 'generate-key'
    | 'refresh-key'
    | 'adopt-policy'
    | 'sign'
    | 'broadcast'
    | 'confirm'
    | 'settle'
    | 'follow'
    | 'reconcile'
    | 'notify';
}

/** A hint that a delivery of a monitor is to be worked on; the row says what it is. */
interface ActivityMessage {
  readonly deliveryId: string;
}

/** The settings, secrets, database and queues of the coordinator (wrangler.toml). It holds no key material. */
export interface CoordinatorConfig {
  readonly DB: D1Database;
  readonly SIGNING_QUEUE: Queue<JobMessage>;
  readonly CONFIRMATION_QUEUE: Queue<JobMessage>;
  readonly NOTIFICATION_QUEUE: Queue<JobMessage>;
  readonly ACTIVITY_QUEUE: Queue<ActivityMessage>;
  /** In this account. With a fourth a key would take more calls than one request may make through bindings: the others have addresses. */
  readonly COSIGNER_1?: Fetcher;
  readonly COSIGNER_2?: Fetcher;
  readonly COSIGNER_3?: Fetcher;
  /** JSON: number of a co-signer in another account to its origin. Empty or absent: all are bound. */
  readonly COSIGNER_URLS?: string;
  /** Secret, hex of 32 bytes: signs what is sent to co-signers. They pin its public key (COORDINATOR_KEY). */
  readonly COORDINATOR_SECRET?: string;
  /** Coarse shield per address for requests without a valid credential; the limits of spec part 8 count in the token's object. */
  readonly SHIELD: RateLimit;
  /** Where the service is counted (`metrics.ts`); nothing is where it is absent. */
  readonly METRICS?: AnalyticsEngineDataset;
  /** JSON: chain name to the addresses of its nodes, in order of preference. Never taken from a caller. */
  readonly RPC_URLS: string;
  /** JSON: chain rows that add to the registry or replace its rows. Empty for none. */
  readonly CHAINS?: string;
  /** JSON: rate-limit policy to quota. Empty for the defaults of spec part 8. */
  readonly RATE_LIMITS?: string;
  /** Whole seconds between the request of a credential reset and its effect (domain/access/credential-reset.ts). Empty or absent: 24 hours. */
  readonly CREDENTIAL_RESET_DELAY_SECONDS?: string;
  /** JSON: sources of prices, in order of preference (prices/settings.ts). Empty or absent: nothing has a price. */
  readonly PRICE_SOURCES?: string;
  /** Hex of 32 bytes: keys the short code inside every token value, so that a mistyped one is refused without a look-up. */
  readonly TOKEN_MAC_KEY: string;
  /** JSON: endpoint id to `{ provider, secrets }` of the monitors that may deliver. Empty or absent: nobody may. */
  readonly WEBHOOK_ENDPOINTS?: string;
  /** Origin of the approval page, where passkeys are made and used. Empty or absent: the dashboard asks for passkeys itself. */
  readonly APPROVAL_ORIGIN?: string;
  /** JSON: `{ issuer, clientId, clientSecret? }` of OpenID Connect. Empty or absent: nobody logs in. */
  readonly LOGIN?: string;
  /** JSON: `{ subject, publicKey, privateKey, services? }` of Web Push (VAPID, RFC 8292). Empty or absent: nobody is notified. */
  readonly WEB_PUSH?: string;
  /** Comma-separated hex SHA-256 of the service keys that open the internal interface. */
  readonly SERVICE_KEY_HASHES: string;
}
