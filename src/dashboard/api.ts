import type { ClientResponse, InferResponseType } from 'hono/client';
import { hc } from 'hono/client';
import type { Api } from '#http/api.ts';

/** The interface of the service, as its routes declare it. The cookie of the session goes along by itself. */
export const api = hc<Api>(location.origin);

export type Person = InferResponseType<typeof api.user.me.$get>;
export type OwnVault = InferResponseType<typeof api.session.vaults.$get>['data'][number];
export type Balance = InferResponseType<(typeof api.vault)[':vaultId']['balances']['$get']>['balances'][number];
export type Transaction = InferResponseType<(typeof api.transaction)[':txId']['$get']>;
export type Challenge = InferResponseType<(typeof api.transaction)[':txId']['challenge']['$get']>;
type CredentialResets = InferResponseType<(typeof api.user.me)['credential-reset']['$get']>;
export type CredentialReset = CredentialResets['data'][number];
export type Token = InferResponseType<(typeof api)['personal-access-token']['$get']>['tokens'][number];

/** The service has said no, in words for whoever reads them. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** The address that is known here, of one that only looks like it. */
  readonly known: string | null;

  constructor(
    status: number,
    problem: { readonly code?: unknown; readonly title?: unknown; readonly detail?: unknown; readonly known?: unknown },
  ) {
    super([problem.title, problem.detail].filter((part) => typeof part === 'string').join('. '));
    this.status = status;
    this.code = String(problem.code);
    this.known = typeof problem.known === 'string' ? problem.known : null;
  }
}

/** What happens when an answer says that nobody is logged in (any more). */
const LOGGED_OUT = 'conclave:logged-out';

/** Calls back whenever the session turns out to be over. Gives what takes that back. */
export function whenLoggedOut(callback: () => void): () => void {
  addEventListener(LOGGED_OUT, callback);
  return () => removeEventListener(LOGGED_OUT, callback);
}

/** The body of a good answer. Throws `Refusal` for any other. */
export async function good<T>(pending: Promise<ClientResponse<T>>): Promise<T> {
  const response = await pending;
  if (response.status === 401) dispatchEvent(new Event(LOGGED_OUT));
  if (response.status === 204) return null as T;
  const body = (await response.json()) as T;
  if (!response.ok) throw new Refusal(response.status, body as object);
  return body;
}
