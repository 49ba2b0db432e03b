import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The script behind both baselines: one key, nothing done. */
export const NOOP_SCRIPT = 'return 1';
export const NOOP_KEY = 'muster:{bench}';

export function redisSocket(): string {
  const path = process.env['BENCH_REDIS_SOCKET'];
  if (!path) throw new Error('BENCH_REDIS_SOCKET is not set: this file is started by test/bench/main.ts');
  return path;
}

/** Sends the server's address to the parent, and exits with the parent. */
export function announce(server: Server): void {
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  endWithParent();
}

export function endWithParent(): void {
  process.on('disconnect', () => process.exit(0));
}

/** Answers each of the parent's messages with what the handler returns. */
export function answer<T>(handler: (command: T) => Promise<unknown>): void {
  process.on('message', (command: T) => {
    handler(command).then(
      (result) => process.send?.({ ok: true, result: result ?? null }),
      (error: unknown) => process.send?.({ ok: false, message: String(error) }),
    );
  });
}
