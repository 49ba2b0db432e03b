// Baseline (b): the same through Koa, with no middleware but the handler.
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import Koa from 'koa';
import { announce, NOOP_KEY, NOOP_SCRIPT, redisSocket } from './child.ts';

const redis = new Redis({ path: redisSocket() });
const sha = (await redis.script('LOAD', NOOP_SCRIPT)) as string;

const app = new Koa();
app.use(async (ctx) => {
  await redis.evalsha(sha, 1, NOOP_KEY);
  ctx.status = 201;
  ctx.body = { ok: true };
});

announce(createServer(app.callback()));
