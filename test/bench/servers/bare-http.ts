// Baseline (a): node:http and one EVALSHA per request, nothing else. The body is left unread.
import { createServer, type ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { announce, NOOP_KEY, NOOP_SCRIPT, redisSocket } from './child.ts';

const redis = new Redis({ path: redisSocket() });
const sha = (await redis.script('LOAD', NOOP_SCRIPT)) as string;

const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': 11 };

async function handle(response: ServerResponse): Promise<void> {
  await redis.evalsha(sha, 1, NOOP_KEY);
  response.writeHead(201, headers);
  response.end('{"ok":true}');
}

announce(
  createServer((_request, response) => {
    void handle(response);
  }),
);
