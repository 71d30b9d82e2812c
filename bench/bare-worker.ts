import { DurableObject } from 'cloudflare:workers';
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import * as z from 'zod';

/**
 * The baselines: the best results of this runtime, so that every figure of the service is a ratio
 * within one run.
 */
interface BareEnv {
  readonly BARE: DurableObjectNamespace<BareObject>;
  readonly DB: D1Database;
  /** This Worker, in the place of a co-signer. */
  readonly SELF: Fetcher;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS record (id TEXT PRIMARY KEY, version INTEGER NOT NULL, document TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS vote (id TEXT NOT NULL, user_id INTEGER NOT NULL, PRIMARY KEY (id, user_id)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS history (seq INTEGER PRIMARY KEY, document TEXT NOT NULL, hash TEXT NOT NULL UNIQUE);
  CREATE TABLE IF NOT EXISTS outbox (id TEXT NOT NULL, job TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (id, job)) WITHOUT ROWID;
`;
/** As long as the records of the service. */
const RECORD = 'r'.repeat(1_500);
const LINE = 'h'.repeat(400);

/**
 * One request of a signature by ECDSA to a co-signer: the bytes of the request and of the answer,
 * the calls of the object to others that the answer waits for (policies, pair set-up, permit), and
 * the rows that the object writes.
 */
interface SigningCall {
  readonly sent: number;
  readonly returned: number;
  readonly calls: number;
  readonly rows: number;
}

/** The opening, the start, and rounds 2 and 3. */
const SIGNING_CALLS: readonly SigningCall[] = [
  { sent: 2_000, returned: 300, calls: 2, rows: 0 },
  { sent: 1_000, returned: 13_600, calls: 1, rows: 2 },
  { sent: 13_600, returned: 53_800, calls: 1, rows: 1 },
  { sent: 53_800, returned: 300, calls: 2, rows: 1 },
];

export class BareObject extends DurableObject<BareEnv> {
  constructor(ctx: DurableObjectState, env: BareEnv) {
    super(ctx, env);
    ctx.storage.sql.exec(SCHEMA);
    ctx.storage.sql.exec("INSERT OR IGNORE INTO record (id, version, document) VALUES ('one', 0, ?)", RECORD);
  }

  /** One call that does nothing. */
  nothing(): null {
    return null;
  }

  /** One durable insert. */
  insert(body: string): number {
    return this.ctx.storage.sql.exec<{ id: number }>('INSERT INTO item (body) VALUES (?) RETURNING id', body).one().id;
  }

  /** Serves a request of a signature, without any check or computation. */
  async serve(stage: number, _body: Uint8Array): Promise<Uint8Array> {
    const { returned, calls, rows } = signingCall(stage);
    for (let i = 0; i < calls; i++) await this.env.BARE.getByName(`beside ${i}`).nothing();
    for (let i = 0; i < rows; i++) this.insert(LINE);
    return new Uint8Array(returned);
  }

  /** Reads and writes the rows of an approval in a vault, without any decision about it. */
  approve(): number {
    const { sql } = this.ctx.storage;
    return this.ctx.storage.transactionSync(() => {
      const before = sql.exec<{ version: number }>("SELECT version, document FROM record WHERE id = 'one'").one();
      const version = before.version + 1;
      sql.exec(
        "UPDATE record SET version = ?, document = ? WHERE id = 'one' AND version = ?",
        version,
        RECORD,
        version - 1,
      );
      sql.exec("INSERT INTO vote (id, user_id) VALUES ('one', ?)", version);
      sql.exec('INSERT INTO history (document, hash) VALUES (?, ?)', LINE, version.toString(16).padStart(64, '0'));
      sql.exec("INSERT OR REPLACE INTO outbox (id, job, version) VALUES ('one', 'project', ?)", version);
      return version;
    });
  }
}

const message = z.strictObject({ vaultId: z.int(), chain: z.string(), message: z.string(), note: z.string() });

const app = new Hono<{ Bindings: BareEnv }>();

app.get('/object', async (context) => {
  await context.env.BARE.getByName('one').nothing();
  return context.json({ ok: true });
});

app.post('/object-write', zValidator('json', message), async (context) => {
  const id = await context.env.BARE.getByName('one').insert(JSON.stringify(context.req.valid('json')));
  return context.json({ id }, 201);
});

app.post('/object-vote', async (context) =>
  context.json({ version: await context.env.BARE.getByName('one').approve() }),
);

app.post('/signature', async ({ env }) => {
  for (const [stage, { sent }] of SIGNING_CALLS.entries()) {
    const call = async (cosigner: number) => {
      const answer = await env.SELF.fetch(`http://bare/cosigner/${cosigner}/${stage}`, {
        method: 'POST',
        body: new Uint8Array(sent),
      });
      return answer.arrayBuffer();
    };
    await Promise.all([call(1), call(2)]);
  }
  return new Response('{"ok":true}');
});

app.post('/cosigner/:cosigner/:stage', async ({ env, req }) => {
  const { cosigner, stage } = req.param();
  const object = env.BARE.getByName(`cosigner ${cosigner}`);
  return new Response(await object.serve(Number.parseInt(stage, 10), new Uint8Array(await req.arrayBuffer())));
});

app.get('/rows', async (context) => {
  const { results } = await context.env.DB.prepare(
    'SELECT record FROM record WHERE vault_id = 1 ORDER BY id DESC LIMIT 50',
  ).all<{
    record: string;
  }>();
  return context.body(`[${results.map(({ record }) => record).join()}]`, 200, { 'content-type': 'application/json' });
});

export default {
  fetch(request: Request, env: BareEnv, context: ExecutionContext): Response | Promise<Response> {
    if (request.url.endsWith('/bare'))
      return new Response('{"ok":true}', { headers: { 'content-type': 'application/json' } });
    return app.fetch(request, env, context);
  },
} satisfies ExportedHandler<BareEnv>;

function signingCall(stage: number): SigningCall {
  const call = SIGNING_CALLS[stage];
  if (call === undefined) throw new Error('a signature has four requests');
  return call;
}
