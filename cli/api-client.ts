import { randomUUID } from 'node:crypto';
import { hc } from 'hono/client';
import type { ClientResponse, InferRequestType, InferResponseType } from 'hono/client';
import { Agent, setGlobalDispatcher } from 'undici';
import type { Api } from '#http/api.ts';

/**
 * The runtime closes a connection that was idle for five seconds, and a request in transit at that
 * moment gets no response. Node drops one after four seconds, by a timer that is a second late at
 * times, and more under load. The setting applies to all requests of this process.
 */
setGlobalDispatcher(new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 }));

/**
 * Every endpoint by its path. The types of requests and responses follow from the routes
 * themselves.
 */
export type Connection = ReturnType<typeof hc<Api>>;

export type TransactionRecord = InferResponseType<Connection['transaction'][':txId']['$get']>;
export type Challenge = InferResponseType<Connection['transaction'][':txId']['challenge']['$get']>;
export type VaultRecord = InferResponseType<Connection['internal']['vault'][':vaultId']['$get']>;
export type BalanceRecord = InferResponseType<Connection['vault'][':vaultId']['balances']['$get']>['balances'][number];
export type TransferBody = InferRequestType<Connection['transaction']['transfer']['$post']>['json'];

/** A response to a request that no typed client would send. */
export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** No response of the service arrived: it may have executed the request or not. */
export class NoAnswer extends Error {}

/** The service refused the request. */
class Refused extends Error {
  readonly status: number;
  /** The code of the problem (RFC 9457). */
  readonly code: string;

  constructor(what: string, status: number, problem: unknown) {
    super(`${what} returned ${status}: ${JSON.stringify(problem)}`);
    this.status = status;
    this.code = String((problem as { readonly code?: unknown } | null)?.code);
  }
}

/**
 * Returns the body of a successful response. Throws `Refused` for any other, `NoAnswer` when there
 * is none.
 */
export async function unwrap<T>(pending: Promise<ClientResponse<T>>): Promise<T> {
  const response = await pending;
  const body = await bodyOf(response);
  if (!response.ok) throw new Refused(new URL(response.url).pathname, response.status, body);
  return body as T;
}

/** Returns the Authorization header of a request to a path with its query. */
export type Authorize = (method: string, target: string) => string;

/** The HTTP client of one holder of a token, of a service key or of a device. */
export class Client {
  readonly api: Connection;
  readonly #url: string;
  readonly #credential: string | Authorize;

  /** @param credential a token or a service key, or the header that a device signs */
  constructor(url: string, credential: string | Authorize) {
    this.#url = url;
    this.#credential = credential;
    this.api = hc<Api>(url, { fetch: (...[input, init]: Parameters<typeof fetch>) => this.#send(input, init) });
  }

  /**
   * Returns the same client at another address of the same service, for example after a restart.
   */
  at(url: string): Client {
    return new Client(url, this.#credential);
  }

  /**
   * Sends any request and returns any response, successful or not. Throws `NoAnswer` when there is
   * none.
   */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const { body, headers } = options;
    const response = await this.#send(`${this.#url}${path}`, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await bodyOf(response)) as T };
  }

  #send(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const credential = this.#credential;
    const headers = new Headers(init?.headers);
    if (!headers.has('authorization')) {
      const target = `${pathname}${search}`;
      const isText = typeof credential === 'string';
      headers.set('authorization', isText ? `Bearer ${credential}` : credential(init?.method ?? 'GET', target));
    }
    return answered(input, { ...init, headers });
  }

  transfer(json: TransferBody, idempotencyKey: string = randomUUID()): Promise<TransactionRecord> {
    const headers = { 'idempotency-key': idempotencyKey };
    return unwrap(this.api.transaction.transfer.$post({ json }, { headers }));
  }

  /** @param nonce 64 hex digits; with one, the response has the statements of the co-signers */
  challenge(txId: string, nonce?: string): Promise<Challenge> {
    const query = nonce === undefined ? {} : { nonce };
    return unwrap(this.api.transaction[':txId'].challenge.$get({ param: { txId }, query }));
  }

  approve(txId: string): Promise<TransactionRecord> {
    return unwrap(this.api.transaction[':txId'].approve.$post({ param: { txId } }));
  }

  /** Rejects a transaction, with a reason of at most 200 characters for the other members. */
  reject(txId: string, reason?: string): Promise<TransactionRecord> {
    const json = reason === undefined ? {} : { json: { reason } };
    return unwrap(this.api.transaction[':txId'].reject.$post({ param: { txId }, ...json }));
  }

  read(txId: string): Promise<TransactionRecord> {
    return unwrap(this.api.transaction[':txId'].$get({ param: { txId } }));
  }

  /** Returns the first page of the balances of a vault. */
  balances(vaultId: number) {
    return unwrap(this.api.vault[':vaultId'].balances.$get({ param: { vaultId: String(vaultId) }, query: {} }));
  }

  /** Requests a scan of the chains of a vault for transactions that no monitor reported. */
  requestRescan(vaultId: number) {
    const param = { vaultId: String(vaultId) };
    return unwrap(this.api.vault[':vaultId']['reprocess-incoming-transactions'].$post({ param }));
  }

  /** Returns the first page of a vault's history. */
  history(vaultId: number) {
    return unwrap(this.api.vault[':vaultId'].history.$get({ param: { vaultId: String(vaultId) }, query: {} }));
  }

  /** Returns a page of a vault's transactions, the newest first. */
  transactions(vaultId: number, query: { readonly cursor?: string; readonly limit?: string } = {}) {
    return unwrap(this.api.vault[':vaultId'].transactions.$get({ param: { vaultId: String(vaultId) }, query }));
  }
}

async function answered(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  try {
    return await fetch(input, init);
  } catch (error) {
    throw new NoAnswer(`No response: ${String(error)}`, { cause: error });
  }
}

const NO_CONTENT = 204;

/**
 * Returns the parsed body. A broken connection, or the text of a proxy in between, is not a
 * response.
 */
async function bodyOf(response: { status: number; json(): Promise<unknown> }): Promise<unknown> {
  if (response.status === NO_CONTENT) return null;
  try {
    return await response.json();
  } catch (error) {
    throw new NoAnswer(`Incomplete response: ${String(error)}`, { cause: error });
  }
}
