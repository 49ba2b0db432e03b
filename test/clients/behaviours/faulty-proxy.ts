import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { calls } from '../../../src/clients/typescript/generated/calls.ts';

/** What happens to a call, alone or in a batch: its request is cut, its answer is lost, there is none, or it takes longer. */
export interface Fault {
  readonly call: string;
  readonly is: 'cut' | 'lost' | 'hanging' | 'slow';
  /** Default 1. */
  readonly times?: number;
}

export interface FaultyProxy {
  readonly url: string;
  /** The names of the calls that it has received, in order. */
  readonly calls: string[];
  isAway: boolean;
  close(): void;
}

const slowMs = 900;
const patterns = Object.entries(calls).map(([name, [method, path]]) => ({
  name,
  method,
  path: new RegExp(`^/v1${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The name of a call; those of its calls if it is a batch. */
function namesOf({ method, url = '' }: IncomingMessage, body: string): readonly string[] {
  const { pathname } = new URL(url, 'http://x');
  const name = patterns.find((one) => one.method === method && one.path.test(pathname))?.name ?? pathname;
  if (name !== 'batch') return [name];
  return (JSON.parse(body).calls as readonly { readonly call: string }[]).map(({ call }) => call);
}

/** A proxy in front of a server, with faults in some of its calls. */
export async function faultyProxy(target: string, faults: readonly Fault[] = []): Promise<FaultyProxy> {
  const left = faults.map(({ times = 1, ...fault }) => ({ ...fault, times }));

  async function pass(from: IncomingMessage, to: ServerResponse): Promise<void> {
    let body = '';
    for await (const piece of from.setEncoding('utf8')) body += piece;
    const names = namesOf(from, body);
    proxy.calls.push(...names);
    const fault = left.find(({ call, times }) => times > 0 && names.includes(call));
    if (fault) fault.times--;
    if (proxy.isAway || fault?.is === 'cut') return void from.destroy();
    if (fault?.is === 'hanging') return;
    if (fault?.is === 'slow') await sleep(slowMs);
    const { hostname, port } = new URL(target);
    const { method, url: path, headers } = from;
    const sent = request({ hostname, port, method, path, headers }, (answer) => {
      if (fault?.is === 'lost') return void from.destroy();
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to).on('error', () => undefined);
      return undefined;
    });
    sent.on('error', () => from.destroy());
    to.on('close', () => sent.destroy());
    sent.end(body);
  }

  const server = createServer((from, to) => void pass(from, to).catch(() => from.destroy()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const proxy: FaultyProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    isAway: false,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
