import { checkHeaders, limitedEnv, limitedFetch } from './limited-bindings.ts';
import { within } from './limits.ts';

/** Workers whose invocations have the limits of the platform. */

type Handlers<E> = Pick<ExportedHandler<E>, 'fetch' | 'queue' | 'scheduled'>;

/** Returns the handlers of a Worker. Each event is one invocation. */
export function limitedHandlers<E extends object>({ fetch, queue, scheduled }: Handlers<E>): Handlers<E> {
  return {
    ...(fetch === undefined
      ? {}
      : {
          fetch: (request, env, ctx) =>
            within(nameOf(request), () => {
              checkHeaders(request.headers);
              return fetch(request, limitedEnv(env), ctx);
            }),
        }),
    ...(queue === undefined
      ? {}
      : { queue: (batch, env, ctx) => within(`consumer of ${batch.queue}`, () => queue(batch, limitedEnv(env), ctx)) }),
    ...(scheduled === undefined
      ? {}
      : { scheduled: (event, env, ctx) => within('cron', () => scheduled(event, limitedEnv(env), ctx)) }),
  };
}

/** Ids in a path make no difference. */
export function nameOf({ method, url }: Pick<Request, 'method' | 'url'>): string {
  return `${method} ${new URL(url).pathname.replaceAll(/[0-9a-zA-Z._-]{16,}|(?<=\/)\d+/g, '*')}`;
}

type ObjectClass = new (...given: never[]) => object;

/** Makes each call of an object, and each alarm, one invocation. Returns the class. */
export function limitedObject<C extends ObjectClass>(name: string, Given: C): C {
  const Base = Given as unknown as new (ctx: DurableObjectState, env: object) => object;
  class Limited extends Base {
    constructor(ctx: DurableObjectState, env: object) {
      super(ctx, limitedEnv(env));
    }
  }
  for (const method of methodsOf(Base)) {
    Object.defineProperty(Limited.prototype, method, {
      configurable: true,
      value(this: Readonly<Record<string, unknown>>, ...given: unknown[]) {
        const inherited = (Base.prototype as Readonly<Record<string, (...all: unknown[]) => unknown>>)[method];
        return within(`${name}.${method}`, () => inherited?.apply(this, given));
      },
    });
  }
  return Limited as unknown as C;
}

function methodsOf({ prototype }: { readonly prototype: object }): readonly string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(prototype)).flatMap(([name, { value }]) =>
    name !== 'constructor' && typeof value === 'function' ? [name] : [],
  );
}

/** Counts the requests of this isolate to other servers. */
export function limitFetch(): void {
  const send = globalThis.fetch;
  globalThis.fetch = (input: RequestInfo | URL, init?: RequestInit) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}));
    return limitedFetch(headers, () => send(input, init));
  };
}
