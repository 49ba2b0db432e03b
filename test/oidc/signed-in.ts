import pino from 'pino';
import type { OidcOptions } from '../../src/doors/oidc/oidc.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { freePort } from '../fault/redis-server.ts';
import { redisUrl } from '../support/store.ts';
import { overrides } from '../support/world.ts';

export const audience = 'https://muster.test';

/** Lines of a log. */
export type Lines = string[];

/** The API of a service that accepts tokens of this issuer, at the address that its settings name. */
export async function serviceFor(
  issuer: string,
  options: Partial<OidcOptions> = {},
  { lines = [] as Lines, port = 0 } = {},
): Promise<MusterService> {
  port ||= await freePort();
  return startService({
    redisUrl: await redisUrl(),
    role: 'api',
    host: '127.0.0.1',
    port,
    publicUrl: `http://127.0.0.1:${port}`,
    oidc: { issuer, audience, claim: 'muster', clientId: null, scope: 'openid', ...options },
    log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
    overrides,
  });
}

/** Epoch seconds, from now. */
export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/** Asks an address of MCP for its tools. */
export function post(url: string, token?: string): Promise<Response> {
  const headers = {
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  return fetch(url, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' });
}
