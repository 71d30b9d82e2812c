import { randomUUID } from 'node:crypto';

/** An answer of the service. */
export interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** The parts of a transaction that the local programs look at. */
export interface TransactionRecord {
  readonly id: string;
  readonly state: string;
  readonly stateReason: string | null;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
  readonly asset: { readonly tokenAddress: string | null };
  readonly feePaid: string | null;
  readonly nonce: string | null;
  readonly txHash: string | null;
  readonly digest: string;
  readonly approvalsCounted: number;
  readonly requiredApprovals: number;
  readonly externalId: string | null;
  readonly failure: string | null;
  readonly block: { readonly number: string } | null;
  readonly version: number;
}

export interface Challenge {
  readonly digest: string;
  readonly canonical: string;
  readonly intent: { readonly to: string; readonly amount: string; readonly tokenAddress: string | null };
}

export interface TransferBody {
  readonly vaultId: number;
  readonly chain: string;
  readonly to: string;
  readonly amount: string;
  readonly tokenAddress?: string;
  readonly note?: string;
  readonly externalId?: string;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Nothing came back that the service has said: it may have done what it was asked, or not. */
export class NoAnswer extends Error {}

/** What one holder of a token (or of a service key) does over HTTP, as any client would. */
export class Client {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** The same person at another address of the same service: it has been restarted. */
  at(url: string): Client {
    return new Client(url, this.#token);
  }

  /** Gives any answer, good or bad. Throws `NoAnswer` when there is none. */
  async ask<T>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const { body, headers } = options;
    const request = {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    try {
      const response = await fetch(`${this.#url}${path}`, request);
      return { status: response.status, headers: response.headers, body: (await response.json()) as T };
    } catch (error) {
      // No connection, a broken one, or the text of a proxy in between.
      throw new NoAnswer(`${method} ${path} had no answer: ${String(error)}`, { cause: error });
    }
  }

  /** Gives the body of a good answer. Throws what the service said otherwise. */
  async get<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const answer = await this.ask<T>(method, path, options);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }

  transfer(body: TransferBody, idempotencyKey: string = randomUUID()): Promise<TransactionRecord> {
    return this.get('POST', '/transaction/transfer', { body, headers: { 'idempotency-key': idempotencyKey } });
  }

  challenge(id: string): Promise<Challenge> {
    return this.get('GET', `/transaction/${id}/challenge`);
  }

  approve(id: string): Promise<TransactionRecord> {
    return this.get('POST', `/transaction/${id}/approve`);
  }

  reject(id: string): Promise<TransactionRecord> {
    return this.get('POST', `/transaction/${id}/reject`);
  }

  read(id: string): Promise<TransactionRecord> {
    return this.get('GET', `/transaction/${id}`);
  }
}
