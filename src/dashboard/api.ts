import type { ClientResponse, InferResponseType } from 'hono/client';
import { hc } from 'hono/client';
import type { FieldFault } from '#dashboard/problem-text.ts';
import { faultsIn, faultText } from '#dashboard/problem-text.ts';
import type { Api } from '#http/api.ts';

/**
 * The typed client of the service's API. The browser sends the session cookie with each request.
 */
export const api = hc<Api>(location.origin);

export type Person = InferResponseType<typeof api.user.me.$get>;
export type OwnVault = InferResponseType<typeof api.session.vaults.$get>['data'][number];
export type Balance = InferResponseType<(typeof api.vault)[':vaultId']['balances']['$get']>['balances'][number];
export type Transaction = InferResponseType<(typeof api.transaction)[':txId']['$get']>;
export type Challenge = InferResponseType<(typeof api.transaction)[':txId']['challenge']['$get']>;
type CredentialResets = InferResponseType<(typeof api.user.me)['credential-reset']['$get']>;
export type CredentialReset = CredentialResets['data'][number];
export type Token = InferResponseType<(typeof api)['personal-access-token']['$get']>['tokens'][number];

/** The body of a refusal (RFC 9457), as far as the service sent one. */
interface Problem {
  readonly code?: unknown;
  readonly title?: unknown;
  readonly detail?: unknown;
  readonly known?: unknown;
  readonly errors?: unknown;
}

/** The service refused a request. The message is for the person. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** The refused fields of the body. */
  readonly faults: readonly FieldFault[];
  /** The known address that the refused address resembles, or null. */
  readonly known: string | null;

  constructor(status: number, problem: Problem) {
    const faults = faultsIn(problem.errors);
    const isInvalid = problem.code === 'invalid-request' && faults.length > 0;
    const texts = isInvalid
      ? [faults.map(faultText).join(' ')]
      : [problem.title, problem.detail].filter((part) => typeof part === 'string');
    super(texts.join('. '));
    this.status = status;
    this.code = String(problem.code);
    this.faults = faults;
    this.known = typeof problem.known === 'string' ? problem.known : null;
  }
}

/** The event that is sent when a response shows that the session has ended. */
const LOGGED_OUT = 'conclave:logged-out';

/** Calls back when the session has ended. Returns a function that removes the callback. */
export function whenLoggedOut(callback: () => void): () => void {
  addEventListener(LOGGED_OUT, callback);
  return () => removeEventListener(LOGGED_OUT, callback);
}

/** A body that is one page of a list, whose cursor may name another page. */
type IsList<T> = T extends { readonly nextCursor: infer Next } ? (string extends Next ? true : false) : false;

/**
 * Returns the body of a successful response. Throws `Refusal` for any other response. A list does
 * not compile here: lists.ts reads it to its end.
 */
export function good<T>(
  pending: Promise<ClientResponse<T>>,
  ..._list: true extends IsList<T> ? [never] : []
): Promise<T> {
  return bodyOf(pending);
}

/** Returns what `good` returns, also of one page of a list. Only lists.ts calls it. */
export async function bodyOf<T>(pending: Promise<ClientResponse<T>>): Promise<T> {
  const response = await pending;
  if (response.status === 401) dispatchEvent(new Event(LOGGED_OUT));
  if (response.status === 204) return null as T;
  const body = (await response.json()) as T;
  if (!response.ok) throw new Refusal(response.status, body as object);
  return body;
}
