import type { Context } from 'hono';
import type { AdmittedToken, UserProfile } from '#domain/access/access-token.ts';
import type { TokenId } from '#domain/id.ts';
import type { Actor, Operator } from '#domain/access/approval.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { Client } from '#objects/token/rate-limiter.ts';

/** The authenticated user, with the access token or session of the request. */
interface Caller {
  readonly user: UserProfile;
  /** The id of the access token or of the session. */
  readonly tokenId: TokenId;
  /** What the access token may do; null for a session, which may do everything. */
  readonly token: AdmittedToken | null;
  /**
   * The hash of the session secret, with which a long stream checks the session again; null for a
   * token.
   */
  readonly sessionHash: string | null;
}

export interface HttpEnv {
  readonly Bindings: CoordinatorEnv;
  readonly Variables: {
    requestId: string;
    /** The declared path of the matched route; absent when no route matches. */
    route?: string;
    /** Set by `authenticate`; only routes behind it may read it. */
    caller: Caller;
    /**
     * Set by `authenticateService`: the first 8 digits of the hash of the service key, for the
     * history.
     */
    serviceKey: string;
    /** The bytes of the body, which the reader of the request has read; absent without a body. */
    body?: Uint8Array<ArrayBuffer>;
  };
}

export type HttpContext = Context<HttpEnv>;

/** IPv4 or IPv6. The platform writes nothing else into the header. */
const ADDRESS = /^[0-9A-Fa-f:.]{2,45}$/;

/** Returns the caller as the actor of a command. */
export function actorOf(context: HttpContext): Actor {
  const { user, tokenId } = context.get('caller');
  return { userId: user.id, tokenId, address: addressOf(context) };
}

/** Returns the operator who sent a request with a service key. */
export function operatorOf(context: HttpContext): Operator {
  return { serviceKey: context.get('serviceKey'), address: addressOf(context) };
}

/** Returns the client address that the platform reports; null when it reports none. */
export function addressOf(context: HttpContext): string | null {
  const address = context.req.header('cf-connecting-ip') ?? '';
  return ADDRESS.test(address) ? address : null;
}

const MAX_AGENT_LENGTH = 120;

/** Returns the address and the name of the client, for the owner of its credential. */
export function clientOf(context: HttpContext): Client {
  const agent = (context.req.header('user-agent') ?? '').replaceAll(/[^ -~]/g, '').slice(0, MAX_AGENT_LENGTH);
  return { address: addressOf(context), agent: agent === '' ? null : agent };
}
