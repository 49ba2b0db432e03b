// A lock like Redlock's on one Redis, behind Koa without any middleware: SET NX PX, and a compare-and-delete.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import Koa from 'koa';
import { announce, redisSocket } from './child.ts';

const LEASE_MS = 30_000;
const RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

const redis = new Redis({ path: redisSocket() });
const sha = (await redis.script('LOAD', RELEASE)) as string;

/** `/acquire/<name>` or `/release/<name>/<token>`. */
const app = new Koa();
app.use(async (ctx) => {
  const [, call, name = '', token = ''] = ctx.path.split('/');
  const key = `lock:${name}`;
  if (call === 'acquire') {
    const made = randomUUID();
    const taken = await redis.set(key, made, 'PX', LEASE_MS, 'NX');
    ctx.status = taken === null ? 409 : 201;
    ctx.body = { token: made };
    return;
  }
  ctx.body = { released: await redis.evalsha(sha, 1, key, token) };
});

announce(createServer(app.callback()));
