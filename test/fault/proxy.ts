import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `pass`: data is forwarded; `mute`: requests arrive, answers are lost; `hole`: all data is silently lost; `refuse`:
 * new connections are refused.
 */
export type Mode = 'pass' | 'mute' | 'hole' | 'refuse';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** Data was lost, so the stream is broken: `heal` resets it. */
  isSpoilt: boolean;
}

/** A network between two ends on this machine, which can be cut, slow, half-closed or silent. */
export class TcpProxy {
  mode: Mode = 'pass';
  delayMs = 0;
  readonly #server: Server;
  readonly #port: number;
  readonly #pairs = new Set<Pair>();

  private constructor(port: number) {
    this.#port = port;
    this.#server = createServer({ allowHalfOpen: true }, (near) => this.#accept(near));
  }

  /** Passes on to a port of this machine. */
  static async to(port: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(port);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  #accept(near: Socket): void {
    if (this.mode === 'refuse') {
      near.destroy();
      return;
    }
    const far = connect({ port: this.#port, host: '127.0.0.1', allowHalfOpen: true });
    const pair: Pair = { near, far, isSpoilt: false };
    this.#pairs.add(pair);
    this.#pump(pair, near, far, ['mute', 'pass']);
    this.#pump(pair, far, near, ['pass']);
  }

  #pump(pair: Pair, from: Socket, to: Socket, passes: readonly Mode[]): void {
    from.setNoDelay(true);
    let tail = Promise.resolve();
    // Delayed data is not overtaken.
    const send = (act: () => void): void => {
      const at = performance.now() + this.delayMs;
      tail = tail.then(async () => {
        if (at > performance.now()) await sleep(at - performance.now());
        act();
      });
    };
    from.on('data', (chunk) => {
      if (!passes.includes(this.mode)) pair.isSpoilt = true;
      else send(() => to.writable && to.write(chunk));
    });
    from.on('end', () => send(() => to.end()));
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#pairs.delete(pair);
      to.destroy();
    });
  }

  /** Cuts every connection, with a reset. */
  cut(): void {
    for (const { near, far } of this.#pairs) {
      reset(near);
      reset(far);
    }
  }

  /** Ends each connection towards one side, while the other side goes on. */
  halfClose(side: 'near' | 'far'): void {
    for (const pair of this.#pairs) pair[side].end();
  }

  /** Restores the network, and resets connections that have lost data. */
  heal(): void {
    this.mode = 'pass';
    this.delayMs = 0;
    for (const { near, far, isSpoilt } of this.#pairs) {
      if (!isSpoilt) continue;
      reset(near);
      reset(far);
    }
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
  }
}

/** In Node 20, a reset while the socket is ending never completes, and the process does not exit. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
