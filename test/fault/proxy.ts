import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What becomes of what passes: `pass` it on; `mute`: requests arrive, answers are lost; `hole`: nothing arrives
 * anywhere, and nobody is told; `refuse` new connections.
 */
export type Mode = 'pass' | 'mute' | 'hole' | 'refuse';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** What was lost on the way spoils the stream: it is cut when the network is well again. */
  isSpoilt: boolean;
}

/** A stretch of network between two ends on this machine, that can be cut, slow, half-closed, or silent. */
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
    // Nothing overtakes what is delayed.
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

  /** One end is told that the other has nothing more to say, while the other goes on. */
  halfClose(side: 'near' | 'far'): void {
    for (const pair of this.#pairs) pair[side].end();
  }

  /** Well again; connections that lost something on the way are reset. */
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

/** A reset while the socket's own end is on its way is never done with, and the process does not exit (Node 20). */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
