// The limit set by the records: bare Koa, Muster's own gathering of concurrent calls, and a script that makes the
// writes of the gathered calls and nothing else.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Reply, Value } from '../../../src/engine/declare/value.ts';
import type { Script } from '../../../src/engine/library/loader.ts';
import { Gathering } from '../../../src/engine/redis/gathering.ts';
import { announce, NOOP_KEY, redisSocket } from './child.ts';
import { FIELDS, WRITES } from './writes.ts';

const SPACES = Number(process.env['BENCH_SPACES']);

const redis = new Redis({ path: redisSocket() });
const scripts = new Map<string, Script>();
for (const [step, text] of Object.entries(WRITES)) {
  const functionName = (await redis.script('LOAD', text)) as string;
  scripts.set(`/${step}`, {
    name: step,
    functionName,
    args: FIELDS,
    shared: [],
    rare: [],
    long: [],
    gathers: true,
    reply: [],
  });
}
const gathering = new Gathering(async ({ functionName }, _org, argv) => {
  const replies = (await redis.evalsha(functionName, 1, NOOP_KEY, ...argv)) as Value[];
  return argv.length === FIELDS.length ? (replies[0] as Reply) : replies;
});
const places = Array.from({ length: SPACES }, () => [randomUUID(), randomUUID(), randomUUID()] as const);
const reserved: string[] = [];
let done = 0;

const app = new Koa();
app.use(bodyParser({ enableTypes: ['json'] }));
app.use(async (ctx) => {
  const script = scripts.get(ctx.path);
  const place = places[done % SPACES];
  if (!script || !place) throw new Error(`nothing is written for ${ctx.path}`);
  const id = randomUUID();
  const { payload } = ctx.request.body as { payload: unknown };
  const number = String(done++).padStart(12, '0');
  const earlier = script.name === 'settle' ? (reserved.shift() ?? id) : '';
  const [space] = place;
  const call = [id, ctx.get('idempotency-key'), JSON.stringify(payload), ...place, number, `${Date.now()}`, earlier];
  await gathering.call(script, '', space, call);
  if (script.name === 'reserve') reserved.push(id);
  ctx.status = 201;
  ctx.body = { id, state: 'READY' };
});

announce(createServer(app.callback()));
