import { DurableObject } from 'cloudflare:workers';
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import * as z from 'zod';

/** The yardsticks: what this runtime does at best, so that every figure of the service is a ratio of one run. */
interface BareEnv {
  readonly BARE: DurableObjectNamespace<BareObject>;
}

export class BareObject extends DurableObject<BareEnv> {
  constructor(ctx: DurableObjectState, env: BareEnv) {
    super(ctx, env);
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, body TEXT NOT NULL)');
  }

  /** One hop that does nothing. */
  nothing(): null {
    return null;
  }

  /** One durable insert. */
  insert(body: string): number {
    return this.ctx.storage.sql.exec<{ id: number }>('INSERT INTO item (body) VALUES (?) RETURNING id', body).one().id;
  }
}

const transfer = z.strictObject({
  vaultId: z.int(),
  chain: z.string(),
  to: z.string(),
  amount: z.string(),
  tokenAddress: z.string().nullable(),
  note: z.string(),
});

const app = new Hono<{ Bindings: BareEnv }>();

app.get('/object', async (context) => {
  await context.env.BARE.getByName('one').nothing();
  return context.json({ ok: true });
});

app.post('/object-write', zValidator('json', transfer), async (context) => {
  const id = await context.env.BARE.getByName('one').insert(JSON.stringify(context.req.valid('json')));
  return context.json({ id }, 201);
});

export default {
  fetch(request: Request, env: BareEnv, context: ExecutionContext): Response | Promise<Response> {
    if (request.url.endsWith('/bare'))
      return new Response('{"ok":true}', { headers: { 'content-type': 'application/json' } });
    return app.fetch(request, env, context);
  },
} satisfies ExportedHandler<BareEnv>;
