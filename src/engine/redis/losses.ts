import type { Logger } from 'pino';
import { canFailPartially, type Store } from './cluster.ts';

/** Logs when the store or a node of a cluster becomes unreachable, and when it is back. */
export function logLosses(store: Store, log: Logger): void {
  const lostAt = new Map<string, number>();
  const lost = (node: string): void => {
    if (lostAt.has(node)) return;
    lostAt.set(node, performance.now());
    log.warn(`${node} cannot be reached: requests that need it get a 503 until it is back`);
  };
  const back = (node: string): void => {
    const since = lostAt.get(node);
    if (since === undefined) return;
    lostAt.delete(node);
    log.info({ awayMs: Math.round(performance.now() - since) }, `${node} is back`);
  };
  if (!canFailPartially(store)) {
    store.on('reconnecting', () => lost('the store'));
    store.on('ready', () => back('the store'));
    return;
  }
  const name = ({ options: { host, port } }: { options: { host?: string; port?: number } }) => `${host}:${port}`;
  // A cluster being closed loses its nodes, too.
  store.on('-node', (node) => {
    if (store.status === 'ready') lost(name(node));
  });
  store.on('+node', (node) => back(name(node)));
}
