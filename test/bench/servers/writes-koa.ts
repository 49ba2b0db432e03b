// The limit of what is recorded: bare Koa and, per request, one script that does the writes of a call and nothing else.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { announce, NOOP_KEY, redisSocket } from './child.ts';
import { WRITES } from './writes.ts';

const SPACES = Number(process.env['BENCH_SPACES']);

const redis = new Redis({ path: redisSocket() });
const shas = new Map<string, string>();
for (const [step, text] of Object.entries(WRITES)) shas.set(`/${step}`, (await redis.script('LOAD', text)) as string);
const places = Array.from({ length: SPACES }, () => [randomUUID(), randomUUID(), randomUUID()]);
const reserved: string[] = [];
let done = 0;

const app = new Koa();
app.use(bodyParser({ enableTypes: ['json'] }));
app.use(async (ctx) => {
  const id = randomUUID();
  const { payload } = ctx.request.body as { payload: unknown };
  const place = places[done % SPACES] ?? [];
  const number = String(done++).padStart(12, '0');
  const key = ctx.get('idempotency-key');
  const earlier = ctx.path === '/settle' ? (reserved.shift() ?? id) : '';
  await redis.evalsha(
    shas.get(ctx.path) ?? '',
    1,
    NOOP_KEY,
    id,
    key,
    JSON.stringify(payload),
    ...place,
    number,
    Date.now(),
    earlier,
  );
  if (ctx.path === '/reserve') reserved.push(id);
  ctx.status = 201;
  ctx.body = { id, state: 'READY' };
});

announce(createServer(app.callback()));
