import type { ClientResponse, InferResponseType } from 'hono/client';
import { hc } from 'hono/client';
import type { FieldFault } from '#dashboard/problem-text.ts';
import { faultsIn, faultText } from '#dashboard/problem-text.ts';
import type { Connection } from '#dashboard/shell/connection.ts';
import { reportConnection } from '#dashboard/shell/connection.ts';
import type { Api } from '#http/api.ts';

/**
 * The typed client of the service's API. The browser sends the session cookie with each request.
 */
export const api = hc<Api>(location.origin);

export type Person = InferResponseType<typeof api.user.me.$get>;
export type OwnVault = InferResponseType<typeof api.session.vaults.$get>['data'][number];
export type Balance = InferResponseType<(typeof api.vault)[':vaultId']['balances']['$get']>['balances'][number];
export type Policy = InferResponseType<(typeof api.vault)[':vaultId']['policy']['$get']>['policy'];
export type Transaction = InferResponseType<(typeof api.transaction)[':txId']['$get']>;
export type Challenge = InferResponseType<(typeof api.transaction)[':txId']['challenge']['$get']>;
type CredentialResets = InferResponseType<(typeof api.user.me)['credential-reset']['$get']>;
export type CredentialReset = CredentialResets['data'][number];
type MemberRoutes = (typeof api.vault)[':vaultId']['member'];
export type Member = InferResponseType<MemberRoutes['$get']>['data'][number];
export type Credential = InferResponseType<MemberRoutes[':userId']['credential']['$get']>['data'][number];
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
  /** When the service can accept the request again; null when it did not say so. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, problem: Problem, retryAfter: string | null = null) {
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
    this.retryAfterSeconds =
      retryAfter !== null && /^[0-9]{1,5}$/.test(retryAfter) ? Number.parseInt(retryAfter, 10) : null;
  }
}

/** The request had no answer of the service: the network is down, or a proxy answered instead. */
export class Unanswered extends Error {}

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
  const { response, body } = await answerOf(pending);
  const retryAfter = response.headers.get('retry-after');
  const refusal = response.ok ? null : new Refusal(response.status, body as object, retryAfter);
  reportConnection(connectionOf(refusal));
  if (refusal !== null) throw refusal;
  return body as T;
}

async function answerOf<T>(pending: Promise<ClientResponse<T>>) {
  try {
    const response = await pending;
    return { response, body: response.status === 204 ? null : await response.json() };
  } catch (error) {
    reportConnection({ state: 'unreachable' });
    throw new Unanswered('The server cannot be reached. Check your connection.', { cause: error });
  }
}

function connectionOf(refusal: Refusal | null): Connection {
  if (refusal?.status === 401) return { state: 'ended' };
  if (refusal?.status !== 429) return { state: 'connected' };
  const seconds = refusal.retryAfterSeconds ?? 1;
  return { state: 'limited', until: new Date(Date.now() + seconds * 1000) };
}
