/** Requests of one key, from as many connections at once as it can open. */
export interface Attack {
  /** Below the space, or the whole path if the attack needs no key. */
  readonly path: string;
  readonly isKeyless?: true;
  readonly connections: number;
  /** The connections are streams that stay open, while somebody writes to the space. */
  readonly isStream?: true;
}

export const attacks: Readonly<Record<string, Attack>> = {
  scopes: { path: '/scopes?state=CANCELLED', connections: 40 },
  events: { path: '/events?limit=500', connections: 40 },
  run: { path: '/ops/runs/<run>?limit=200', connections: 40 },
  watch: { path: '/watch?types=budget.*', connections: 40 },
  streams: { path: '/watch?cursor=latest', connections: 1_900, isStream: true },
  metrics: { path: '/metrics', isKeyless: true, connections: 4 },
  openapi: { path: '/openapi.json', isKeyless: true, connections: 4 },
};
