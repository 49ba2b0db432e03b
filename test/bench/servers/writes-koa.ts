// The limit of what is recorded: bare Koa and, per request, one script that does the writes of a send and nothing else: it
// reads and checks nothing, and nobody could receive, replay or bill what it writes.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { announce, NOOP_KEY, redisSocket } from './child.ts';

const SPACES = Number(process.env['BENCH_SPACES']);
const WRITES = `
local root, id, key, payload = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local space, mailbox, scope, number = root .. ':' .. ARGV[4], ARGV[5], ARGV[6], ARGV[7]
local box, ofScope, moment = space .. ':mailbox:' .. mailbox, space .. ':scope:' .. scope, ARGV[8]
redis.call('HSET', space .. ':message:' .. id, 'state', 'READY', 'mailboxId', mailbox, 'scopeId', scope, 'sequence', number, 'payload', payload)
redis.call('ZADD', box .. ':ready:' .. scope, moment, number .. id)
redis.call('ZADD', box .. ':messages', number, id)
redis.call('ZADD', ofScope .. ':messages', '0', id)
redis.call('HSET', box, 'ready', number, 'sequence', number)
redis.call('HSET', ofScope, 'live', number)
redis.call('HSET', space, 'usedRequests', number, 'messages:READY', number, 'retainedBytes', number, 'op:message.send', number)
redis.call('HSET', root, 'usedOperations', number, 'usedTasks', number)
redis.call('HSET', space .. ':idempotency', key, id .. moment)
redis.call('XADD', space .. ':events', '*', 'message.sent', id .. ' ' .. scope .. ' ' .. id .. ' "mailboxId":"' .. mailbox .. '","state":"READY"')
redis.call('SPUBLISH', space .. ':events', box)
return id`;

const redis = new Redis({ path: redisSocket() });
const sha = (await redis.script('LOAD', WRITES)) as string;
const places = Array.from({ length: SPACES }, () => [randomUUID(), randomUUID(), randomUUID()]);
let sent = 0;

const app = new Koa();
app.use(bodyParser({ enableTypes: ['json'] }));
app.use(async (ctx) => {
  const id = randomUUID();
  const { payload } = ctx.request.body as { payload: unknown };
  const place = places[sent % SPACES] ?? [];
  const number = String(sent++).padStart(12, '0');
  const key = ctx.get('idempotency-key');
  await redis.evalsha(sha, 1, NOOP_KEY, id, key, JSON.stringify(payload), ...place, number, Date.now());
  ctx.status = 201;
  ctx.body = { id, state: 'READY' };
});

announce(createServer(app.callback()));
