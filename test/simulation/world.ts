import { createHash, createHmac } from 'node:crypto';
import type { ScriptDevice } from '#cli/device/script-device.ts';
import { keySchemeOf } from '#domain/asset/chain.ts';
import { app } from '#http/app.ts';
import { consume } from '#jobs/consume.ts';
import { sweep } from '#jobs/sweep.ts';
import { AccessTokenObject } from '#objects/token/access-token.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { JobMessage } from '#objects/configuration.ts';
import { PersonObject } from '#objects/person/object.ts';
import { SessionObject } from '#objects/token/session.ts';
import { VaultObject } from '#objects/vault/doors/object.ts';
import { WalletNonceObject } from '#objects/wallet-nonce/object.ts';
import { bytesToHex } from '@noble/hashes/utils.js';
import { BitcoinChain } from './chains/bitcoin-chain.ts';
import { BitcoinRest } from './chains/bitcoin-rest.ts';
import { ChainNode } from './chains/chain-node.ts';
import type { ChainApi, SimulatedChain } from './chains/chain.ts';
import { limitedEnv, limitedFetch } from '../limits/limited-bindings.ts';
import { nameOf } from '../limits/limited-worker.ts';
import { within } from '../limits/limits.ts';
import type { NodeTerms } from './cosigners.ts';
import { SimulatedCosigner } from './cosigners.ts';
import { SimulatedD1 } from './platform/d1.ts';
import { Dealer } from './key-holders.ts';
import { ObjectNamespace } from './platform/objects.ts';
import { EvmChain } from './chains/evm-chain.ts';
import { EvmRpc } from './chains/evm-rpc.ts';
import { Oracle } from './oracle.ts';
import { SimulatedQueue } from './platform/queues.ts';
import { ResendWaits } from './resend-waits.ts';
import type { Schedule } from './schedule.ts';
import { LostCall } from './schedule.ts';
import { SolanaChain } from './chains/solana-chain.ts';
import { SolanaRpc } from './chains/solana-rpc.ts';
import { vaultOf } from '../objects/vault/vault-of.ts';

const SERVICE_KEY = 'service_key_of_the_simulation';
const MONITOR_SECRET = Buffer.from('a monitor of no provider').toString('base64');
const UNLIMITED = 1_000_000_000;
const SIGNING_THRESHOLD = 2;
const DECISION_SECONDS = 300;

/** The families of chains that are simulated. */
export type Family = keyof typeof FAMILIES;

const FAMILIES = {
  evm: (schedule: Schedule) => {
    const chain = new EvmChain(schedule);
    return { chain, api: new EvmRpc(chain) };
  },
  bitcoin: (schedule: Schedule) => {
    const chain = new BitcoinChain(schedule);
    return { chain, api: new BitcoinRest(chain) };
  },
  solana: (schedule: Schedule) => {
    const chain = new SolanaChain(schedule);
    return { chain, api: new SolanaRpc(chain) };
  },
};

export interface Person {
  readonly id: string;
  readonly token: string;
  /** The device that signs the person's approvals; absent where approvals need no signature. */
  device?: ScriptDevice;
}

/** An answer of the service. */
export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * The whole service in one process: its own code, with a platform, chains and co-signers that fail
 * as the schedule decides.
 */
export class World {
  readonly schedule: Schedule;
  readonly chains: readonly SimulatedChain[];
  /** The address of the vault's wallet on each chain. */
  readonly wallets = new Map<SimulatedChain, string>();
  readonly nodes: Map<SimulatedChain, readonly ChainNode[]>;
  readonly d1: SimulatedD1;
  readonly vaults: ObjectNamespace;
  readonly nonces: ObjectNamespace;
  readonly #others: readonly ObjectNamespace[];
  readonly oracle: Oracle;
  readonly env: CoordinatorEnv;
  readonly resendWaits: ResendWaits;
  cosigners: readonly SimulatedCosigner[] = [];
  readonly people: Person[] = [];
  vaultId = 0;

  constructor(schedule: Schedule, families: readonly Family[], nodes = 2) {
    this.schedule = schedule;
    const served: readonly { readonly chain: SimulatedChain; readonly api: ChainApi }[] = families.map((family) =>
      FAMILIES[family](schedule),
    );
    this.chains = served.map(({ chain }) => chain);
    this.nodes = new Map(
      served.map(({ chain, api }) => [
        chain,
        Array.from({ length: nodes }, (_, i) => new ChainNode(schedule, `${chain.row.name}-${i + 1}`, { chain, api })),
      ]),
    );
    this.d1 = new SimulatedD1(schedule);
    this.oracle = new Oracle(this.wallets, { threshold: 0, signers: [] });
    const namespace = (construct: (ctx: DurableObjectState, env: CoordinatorEnv) => object) =>
      new ObjectNamespace(schedule, (ctx) => construct(ctx, this.env));
    this.vaults = namespace((ctx, env) => new VaultObject(ctx, env));
    this.nonces = namespace((ctx, env) => new WalletNonceObject(ctx, env));
    const tokens = namespace((ctx, env) => new AccessTokenObject(ctx, env));
    const sessions = namespace((ctx, env) => new SessionObject(ctx, env));
    const persons = namespace((ctx, env) => new PersonObject(ctx, env));
    this.#others = [tokens, sessions, persons];
    this.env = this.#environment({ tokens, sessions, persons });
    this.resendWaits = new ResendWaits(schedule, () => this.vaults.host(`vault:${this.vaultId}`).db);
  }

  #environment({ tokens, sessions, persons }: Readonly<Record<'tokens' | 'sessions' | 'persons', ObjectNamespace>>) {
    const work = (batch: MessageBatch<unknown>) => within(`consumer of ${batch.queue}`, () => consume(batch, this.env));
    const onSend = (body: unknown) => this.resendWaits.sent(body as JobMessage);
    const queue = (name: string, mostAtOnce: number, mostRetries: number) => {
      const dead = { name: `conclave-${name}-dead`, mostAtOnce: 10, mostRetries: 3, deadLetters: null };
      const deadLetters = new SimulatedQueue(this.schedule, work, dead);
      return new SimulatedQueue(this.schedule, work, {
        name: `conclave-${name}`,
        mostAtOnce,
        mostRetries,
        deadLetters,
        onSend,
      });
    };
    const cosigner = (index: number) => ({
      fetch: (url: string, init: RequestInit) => {
        const node = this.cosigners[index - 1];
        if (node === undefined) throw new LostCall('There is no node yet (simulated)');
        return node.fetch(url, init);
      },
    });
    const quotas = ['read', 'write', 'token-read', 'token-update', 'token-secret', 'user-profile'];
    return limitedEnv({
      DB: this.d1,
      VAULT: this.vaults,
      ACCESS_TOKEN: tokens,
      SESSION: sessions,
      PERSON: persons,
      WALLET_NONCE: this.nonces,
      // Batch sizes and retries as in wrangler.toml.
      SIGNING_QUEUE: queue('signing', 1, 10),
      CONFIRMATION_QUEUE: queue('confirmation', 10, 10),
      NOTIFICATION_QUEUE: queue('notification', 10, 3),
      ACTIVITY_QUEUE: queue('activity', 10, 10),
      COSIGNER_1: cosigner(1),
      COSIGNER_2: cosigner(2),
      COSIGNER_3: cosigner(3),
      SHIELD: { limit: async () => ({ success: true }) },
      RPC_URLS: this.#rpcUrls(),
      CHAINS: JSON.stringify(this.chains.map(({ row }) => row)),
      RATE_LIMITS: JSON.stringify(Object.fromEntries(quotas.map((name) => [name, UNLIMITED]))),
      TOKEN_MAC_KEY: '01'.repeat(32),
      WEBHOOK_ENDPOINTS: JSON.stringify({
        monitor: { provider: 'standard-webhooks', secrets: [`whsec_${MONITOR_SECRET}`] },
      }),
      SERVICE_KEY_HASHES: createHash('sha256').update(SERVICE_KEY).digest('hex'),
    } as unknown as CoordinatorEnv);
  }

  #rpcUrls(): string {
    const urls = [...this.nodes].map(([{ row }, nodes]) => [row.name, nodes.map(({ url }) => url)] as const);
    return JSON.stringify(Object.fromEntries(urls));
  }

  /** Removes an RPC node from the configuration, as an operator does. */
  remove(chain: SimulatedChain, node: ChainNode): void {
    this.nodes.set(
      chain,
      (this.nodes.get(chain) ?? []).filter((one) => one !== node),
    );
    Object.assign(this.env, { RPC_URLS: this.#rpcUrls() });
  }

  /** Handles the coordinator's own requests to other servers. */
  async network(url: string, init: RequestInit): Promise<Response> {
    const { origin, pathname } = new URL(url);
    const node = [...this.nodes.values()].flat().find((one) => one.url === origin);
    if (node === undefined) throw new Error(`no RPC node is at ${url}`);
    return limitedFetch(new Headers(init.headers), () => node.serve(pathname, init));
  }

  /**
   * Sends one request to the service. Returns null when no answer arrived, so that its effect is
   * unknown.
   */
  async request(
    line: string,
    { token = SERVICE_KEY, body, headers = {} }: RequestOptions = {},
  ): Promise<Answer | null> {
    const [method = '', path = ''] = line.split(' ');
    const sent = body === undefined ? null : JSON.stringify(body);
    const request = new Request(`https://conclave.test${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(sent === null
          ? {}
          : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(sent)) }),
        ...headers,
      },
      ...(sent === null ? {} : { body: sent }),
    });
    const name = `request ${line.replaceAll(/[0-9A-Z]{26}/g, 'id')}`;
    const ctx = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} };
    const answered = this.schedule.call('request', () =>
      this.schedule.lifetime(name, async () => {
        const response = await within(nameOf(request), () => app.fetch(request, this.env, ctx));
        const text = await response.text();
        return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
      }),
    );
    const answer = await answered.catch((error: unknown) => {
      if (error instanceof LostCall) return null;
      throw error;
    });
    this.schedule.note(`${method} ${answer?.status ?? 'no answer'}`);
    return answer;
  }

  /** Reports a transaction to the service as a monitor does. */
  async report({ row }: SimulatedChain, hash: string, name: string): Promise<void> {
    const body = JSON.stringify({ type: 'chain.activity', data: { chain: row.caip2, txHash: hash } });
    const at = String(Math.floor((this.schedule.nowMs + this.schedule.skewMs) / 1000));
    const signature = createHmac('sha256', Buffer.from(MONITOR_SECRET, 'base64')).update(`${name}.${at}.${body}`);
    await this.request('POST /webhook/standard-webhooks/monitor', {
      body: JSON.parse(body),
      headers: {
        'webhook-id': name,
        'webhook-timestamp': at,
        'webhook-signature': `v1,${signature.digest('base64')}`,
      },
    });
  }

  /** Runs the sweep that cron starts each minute. */
  async sweep(): Promise<void> {
    const minute = Math.floor(this.schedule.nowMs / 60_000) * 60_000;
    this.schedule.note('cron');
    await this.schedule.lifetime('cron', async () => {
      // The sweep logs its own faults, and the next sweep follows.
      await within('cron', () => sweep(this.env, { nowMs: minute, settingFaults: [], fingerprints: [] })).catch(
        () => {},
      );
      return 'swept';
    });
  }

  /**
   * Creates three people, a vault in which two of them approve, its funded wallets, and its
   * co-signers, in calm weather.
   */
  async found(): Promise<void> {
    for (const name of ['alice', 'bob', 'carol']) {
      const user = await this.#service('POST /internal/user', { name, email: `${name}@example.com` });
      const id = String(user['id']);
      const issued = await this.#service(`POST /internal/user/${id}/access-token`, { name: 'simulation' });
      this.people.push({ id, token: String(issued['token']) });
    }
    const signers = this.people.map(({ id }) => id);
    this.oracle.changed({ threshold: 2, signers });
    const bitcoinAddressType = this.schedule.pick(['p2tr', 'p2wpkh'] as const);
    const vault = await this.#service('POST /internal/vault', {
      name: 'Treasury',
      members: this.people.map(({ id }) => ({ userId: id, roles: ['initiator', 'signer', 'admin'] })),
      threshold: 2,
      approvalMode: 'token',
      initialState: 'SUBMITTED',
      chains: this.chains.map(({ row }) => row.name),
      bitcoinAddressType,
      decisionPeriodSeconds: DECISION_SECONDS,
      signingThreshold: SIGNING_THRESHOLD,
    });
    this.vaultId = vault['id'] as number;
    for (const { token } of this.people) {
      const accepted = await this.request(`POST /vault/${this.vaultId}/accept`, { token });
      if (accepted?.status !== 200) throw new Error(`a new member cannot accept: ${JSON.stringify(accepted)}`);
    }
    const schemeOn = ({ row }: SimulatedChain) => keySchemeOf(row.family, { bitcoinAddressType });
    const schemes = [...new Set(this.chains.map(schemeOn))];
    const dealers = schemes.map((scheme, i) => new Dealer('abc'.charAt(i).repeat(26), scheme));
    const stub = vaultOf(this.env, this.vaultId);
    const described = await stub.work({ type: 'describeVault' });
    if (described === null) throw new Error('the vault must be there');
    const { policy } = described;
    const importRecord: NodeTerms['importRecord'] = (node, request, checked) =>
      this.oracle.signed(node, request, checked);
    const terms = { threshold: SIGNING_THRESHOLD, policy, dealers, importRecord };
    this.cosigners = [1, 2, 3].map((index) => new SimulatedCosigner(this.schedule, { ...terms, index }));
    for (const node of this.cosigners) node.meet(this.cosigners);
    for (const dealer of dealers) {
      const { keyId, scheme } = dealer;
      const publicKey = bytesToHex(dealer.publicKey);
      const publicShares = { '1': publicKey, '2': publicKey, '3': publicKey };
      const chains = this.chains.filter((chain) => schemeOn(chain) === scheme);
      for (const chain of chains) this.wallets.set(chain, dealer.addressOn(chain.row.caip2));
      const addresses = Object.fromEntries(chains.map((chain) => [chain.row.name, dealer.addressOn(chain.row.caip2)]));
      await stub.report({ type: 'recordKey', key: { keyId, scheme, publicKey, publicShares, addresses } });
    }
    for (const [chain, wallet] of this.wallets) chain.endow(wallet);
  }

  async #service(line: string, body: unknown): Promise<Answer['body']> {
    const answer = await this.request(line, { body });
    if (answer?.status !== 201) throw new Error(`${line}: ${JSON.stringify(answer)}`);
    return answer.body;
  }

  close(): void {
    for (const namespace of [this.vaults, this.nonces, ...this.#others]) namespace.close();
    for (const node of this.cosigners) node.db.close();
    this.d1.db.close();
  }
}

export interface RequestOptions {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}
