import { check, count, onConnection, sizeOf } from './limits.ts';

/** Bindings of the platform that count for the limits, and are otherwise unchanged. */

const OBJECTS = new Set(['VAULT', 'ACCESS_TOKEN', 'SESSION', 'PERSON', 'WALLET_NONCE', 'NODE']);

/** What code remembers for an environment must be found again. */
const LIMITED = new WeakMap<object, object>();

/**
 * Returns the environment of a Worker with bindings that count. Settings are read from the given
 * environment each time, because tests change them.
 */
export function limitedEnv<E extends object>(env: E): E {
  const known = LIMITED.get(env);
  if (known !== undefined) return known as E;
  const bindings = new Map<string | symbol, object>();
  for (const [name, binding] of Object.entries(env)) {
    if (typeof binding === 'object' && binding !== null) bindings.set(name, limited(name, binding as object));
  }
  const made = new Proxy(env, { get: (target, name) => bindings.get(name) ?? Reflect.get(target, name) });
  LIMITED.set(env, made);
  return made;
}

function limited(name: string, binding: object): object {
  if (name === 'DB') return limitedDatabase(binding as D1Database);
  if (name.endsWith('_QUEUE')) return limitedQueue(binding as Queue);
  if (OBJECTS.has(name)) return limitedNamespace(binding as DurableObjectNamespace);
  if (/^COSIGNER_\d$/.test(name)) return limitedService(binding as Fetcher);
  return binding;
}

/** The statements behind counting ones, for batches. */
const BEHIND = new WeakMap<object, D1PreparedStatement>();

function limitedDatabase(db: D1Database): object {
  return {
    prepare: (query: string) => {
      check('bytes of a statement', sizeOf(query));
      return limitedStatement(db.prepare(query));
    },
    batch: (statements: readonly D1PreparedStatement[]) => {
      counted(statements.length);
      return db.batch(statements.map((one) => BEHIND.get(one) ?? one));
    },
  };
}

function counted(statements: number): void {
  count('subrequests');
  count('D1 statements', statements);
}

function limitedStatement(statement: D1PreparedStatement): D1PreparedStatement {
  const call = <T>(run: () => T): T => {
    counted(1);
    return run();
  };
  const counting = {
    bind: (...values: readonly unknown[]) => {
      checkParameters(values);
      return limitedStatement(statement.bind(...values));
    },
    all: () => call(() => statement.all()),
    run: () => call(() => statement.run()),
    raw: () => call(() => statement.raw()),
    first: () => call(() => statement.first()),
  } as unknown as D1PreparedStatement;
  BEHIND.set(counting, statement);
  return counting;
}

function checkParameters(values: readonly unknown[]): void {
  check('parameters of a statement', values.length);
  check('bytes of a row', sizeOf(values));
}

/** Checks a statement for the SQL of an object. */
export function checkStatement(query: string, values: readonly unknown[]): void {
  check('bytes of a statement', sizeOf(query));
  checkParameters(values);
}

/** Checks a value for the storage of an object. */
export function checkStored(value: unknown): void {
  check('bytes of a stored value', sizeOf(value));
}

function limitedQueue(queue: Queue): object {
  const bytes = (body: unknown) => {
    const size = sizeOf(JSON.stringify(body) ?? '');
    check('bytes of a queue message', size);
    return size;
  };
  return {
    send: (body: unknown, options?: QueueSendOptions) => {
      bytes(body);
      count('subrequests');
      return queue.send(body, options);
    },
    sendBatch: (given: Iterable<MessageSendRequest>, options?: QueueSendBatchOptions) => {
      const messages = [...given];
      check('messages of a queue batch', messages.length);
      check(
        'bytes of a queue batch',
        messages.reduce((sum, { body }) => sum + bytes(body), 0),
      );
      count('subrequests');
      return queue.sendBatch(messages, options);
    },
  };
}

type Methods = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;

function limitedNamespace(namespace: DurableObjectNamespace): object {
  const method = (stub: DurableObjectStub, property: string | symbol) => {
    // A stub must not look like a promise.
    if (typeof property !== 'string' || property === 'then') return undefined;
    return async (...given: unknown[]): Promise<unknown> => {
      count('subrequests');
      check('bytes of a call', sizeOf(given));
      // A method of a stub has no methods of its own, so it is called by its name.
      const answer = await (stub as unknown as Methods)[property]?.(...given);
      if (!(answer instanceof Response)) check('bytes of a call', sizeOf(answer));
      return answer;
    };
  };
  return { getByName: (name: string) => new Proxy(namespace.getByName(name), { get: method }) };
}

function limitedService(service: Fetcher): object {
  return {
    fetch: (input: string, init?: RequestInit) => {
      count('service calls');
      count('subrequests');
      checkHeaders(new Headers(init?.headers));
      return service.fetch(input, init);
    },
  };
}

export function checkHeaders(headers: Headers): void {
  check(
    'bytes of headers',
    [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0),
  );
}

/** Sends a request to another server, and counts it. */
export async function limitedFetch(headers: Headers, send: () => Promise<Response>): Promise<Response> {
  count('subrequests');
  checkHeaders(headers);
  return onConnection(send);
}
