import { randomUUID } from 'node:crypto';
import { hc } from 'hono/client';
import type { ClientResponse, InferRequestType, InferResponseType } from 'hono/client';
import { Agent, setGlobalDispatcher } from 'undici';
import type { Api } from '#http/api.ts';

/**
 * The runtime closes a connection that has rested for five seconds, and a request that is on its way just then gets no answer. Node gives one up
 * after four, by a clock that is a second late at times, and more under load. For everything that this process asks.
 */
setGlobalDispatcher(new Agent({ keepAliveTimeout: 1_000, keepAliveMaxTimeout: 1_000 }));

/** Every endpoint by its path: what it takes and what it answers follows from the routes themselves. */
export type Connection = ReturnType<typeof hc<Api>>;

export type TransactionRecord = InferResponseType<Connection['transaction'][':txId']['$get']>;
export type Challenge = InferResponseType<Connection['transaction'][':txId']['challenge']['$get']>;
export type VaultRecord = InferResponseType<Connection['internal']['vault'][':vaultId']['$get']>;
export type BalanceRecord = InferResponseType<Connection['vault'][':vaultId']['balances']['$get']>['balances'][number];
export type TransferBody = InferRequestType<Connection['transaction']['transfer']['$post']>['json'];

/** An answer of the service to something that no typed client would send. */
export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nothing came back that the service has said: it may have done what it was asked, or not. */
export class NoAnswer extends Error {}

/** The service has said no. */
class Refused extends Error {
  readonly status: number;
  /** Of the problem (RFC 9457). */
  readonly code: string;

  constructor(what: string, status: number, problem: unknown) {
    super(`${what} returned ${status}: ${JSON.stringify(problem)}`);
    this.status = status;
    this.code = String((problem as { readonly code?: unknown } | null)?.code);
  }
}

/** The body of a good answer. Throws `Refused` for any other, `NoAnswer` when there is none. */
export async function unwrap<T>(pending: Promise<ClientResponse<T>>): Promise<T> {
  const response = await pending;
  const body = await bodyOf(response);
  if (!response.ok) throw new Refused(new URL(response.url).pathname, response.status, body);
  return body as T;
}

/** What one holder of a token (or of a service key) does over HTTP, as any client would. */
export class Client {
  readonly api: Connection;
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
    this.api = hc<Api>(url, { headers: { authorization: `Bearer ${token}` }, fetch: answered });
  }

  /** The same person at another address of the same service: it has been restarted. */
  at(url: string): Client {
    return new Client(url, this.#token);
  }

  /** Sends anything and gives any answer, good or bad. Throws `NoAnswer` when there is none. */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const { body, headers } = options;
    const response = await answered(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await bodyOf(response)) as T };
  }

  transfer(json: TransferBody, idempotencyKey: string = randomUUID()): Promise<TransactionRecord> {
    const headers = { 'idempotency-key': idempotencyKey };
    return unwrap(this.api.transaction.transfer.$post({ json }, { headers }));
  }

  /** @param nonce 64 hex digits; with one, the answer has the statements of the co-signers */
  challenge(txId: string, nonce?: string): Promise<Challenge> {
    const query = nonce === undefined ? {} : { nonce };
    return unwrap(this.api.transaction[':txId'].challenge.$get({ param: { txId }, query }));
  }

  approve(txId: string): Promise<TransactionRecord> {
    return unwrap(this.api.transaction[':txId'].approve.$post({ param: { txId } }));
  }

  reject(txId: string): Promise<TransactionRecord> {
    return unwrap(this.api.transaction[':txId'].reject.$post({ param: { txId } }));
  }

  read(txId: string): Promise<TransactionRecord> {
    return unwrap(this.api.transaction[':txId'].$get({ param: { txId } }));
  }

  /** The first page of what a vault has. */
  balances(vaultId: number) {
    return unwrap(this.api.vault[':vaultId'].balances.$get({ param: { vaultId: String(vaultId) }, query: {} }));
  }

  /** Has the chains of a vault looked through for what nobody has told of. */
  requestRescan(vaultId: number) {
    const param = { vaultId: String(vaultId) };
    return unwrap(this.api.vault[':vaultId']['reprocess-incoming-transactions'].$post({ param }));
  }

  /** The first page of a vault's history. */
  history(vaultId: number) {
    return unwrap(this.api.vault[':vaultId'].history.$get({ param: { vaultId: String(vaultId) }, query: {} }));
  }

  /** A page of a vault's transactions, the newest first. */
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

/** A broken connection, or the text of a proxy in between, is no answer. */
async function bodyOf(response: { status: number; json(): Promise<unknown> }): Promise<unknown> {
  if (response.status === NO_CONTENT) return null;
  try {
    return await response.json();
  } catch (error) {
    throw new NoAnswer(`Incomplete response: ${String(error)}`, { cause: error });
  }
}
