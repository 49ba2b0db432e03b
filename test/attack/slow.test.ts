import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { forkFile } from '../support/fork.ts';
import { call, Processes } from '../support/processes.ts';
import { drip, pour, Sockets } from './support/sockets.ts';

const normalClient = fileURLToPath(new URL('support/normal-client.ts', import.meta.url));
/** How long each attack lasts. */
const attackMs = 4_000;

interface Report {
  readonly calls: number;
  readonly median: number;
  readonly p95: number;
  readonly slowest: number;
  readonly failures: readonly string[];
}

describe('A server under slow, huge or very many requests', function () {
  this.timeout(120_000);
  const processes = new Processes();
  let url = '';
  let pid = 0;
  let post = '';
  let client: ChildProcess;
  let quiet: Report;

  before(async () => {
    const server = await processes.start({ DATA_DIR: await processes.folder() }).ready();
    url = server.url;
    pid = server.pid;
    const { spaceId, apiKey } = server.access;
    const { id } = (await call(url, server.access, '/mailboxes', { name: 'jobs' })).body;
    post = `POST /v1/spaces/${spaceId}/mailboxes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
    client = forkFile(normalClient, [url, spaceId, apiKey, id]);
    await sleep(1_500);
    await report();
    await sleep(attackMs);
    quiet = await report();
    print('nobody', quiet, '');
  });
  after(async () => {
    client.kill();
    await processes.clear();
  });

  async function report(): Promise<Report> {
    client.send('report');
    const [found] = await once(client, 'message');
    return found as Report;
  }

  const memory = async (): Promise<number> =>
    Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))?.[1] ?? 0) / 1024;

  function print(what: string, { calls, median, p95, slowest }: Report, got: string): void {
    const figures = `${calls} calls, median ${median.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, slowest ${slowest.toFixed(0)} ms`;
    console.log(`      ${what.padEnd(46)} ${figures}${got && `; got ${got}`}`);
  }

  /** Expects that during an attack all calls of the normal client are answered, and not much later than before. */
  async function during(what: string, attack: () => Promise<Sockets>): Promise<Sockets> {
    await report();
    const before = await memory();
    const sockets = await attack();
    const found = await report();
    const grown = (await memory()) - before;
    print(what, found, `${sockets}, ${grown.toFixed(0)} MiB more`);
    expect(found.failures).to.deep.equal([]);
    expect(found.calls).to.be.above(20);
    expect(found.median, `median of ${quiet.median} ms`).to.be.below(Math.max(20 * quiet.median, 100));
    expect(grown, 'MiB').to.be.below(600);
    return sockets;
  }
  const only = (sockets: Sockets, ...statuses: string[]): void => {
    expect([...sockets.answers.keys()].filter((status) => !statuses.includes(status))).to.deep.equal([]);
    expect(sockets.answers.size).to.be.above(0);
  };

  it('cuts off dripping headers and bodies and silent connections in time, without delaying others', async () => {
    const [headers, bodies, idle] = [new Sockets(url), new Sockets(url), new Sockets(url)];
    const start = performance.now();
    await during('500 dripping headers, 500 bodies, 2,000 silent', async () => {
      await headers.connect(500, (socket) => {
        socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
        drip(socket, 'X: y\r\n', 1_000);
      });
      await bodies.connect(500, (socket) => {
        socket.write(`${post}Content-Length: 200000\r\n\r\n{`);
        drip(socket, ' ', 1_000);
      });
      await idle.connect(2_000, () => undefined);
      await sleep(attackMs);
      expect([headers.open, bodies.open, idle.open]).to.deep.equal([500, 500, 2_000]);
      return idle;
    });
    const goneAfter = async (sockets: Sockets): Promise<number> => {
      while (sockets.open > 0) await sleep(50);
      return (performance.now() - start) / 1000;
    };
    const [silentGone, headersGone] = await Promise.all([goneAfter(idle), goneAfter(headers)]);
    const bodiesGone = await goneAfter(bodies);
    console.log(
      `      cut off after: silent ${silentGone.toFixed(0)} s, headers ${headersGone.toFixed(0)} s, bodies ${bodiesGone.toFixed(0)} s`,
    );
    for (const sockets of [headers, bodies]) only(sockets, '408');
    only(idle, 'none');
    expect(Math.max(silentGone, headersGone)).to.be.below(20);
    expect(bodiesGone).to.be.below(45);
  });

  const attacks: [what: string, connections: number, statuses: string[], act: (socket: Socket) => void][] = [
    [
      'bodies of 300 KiB',
      50,
      ['413'],
      (socket) => socket.write(`${post}Content-Length: 307200\r\n\r\n${'x'.repeat(307_200)}`),
    ],
    [
      'chunks without end',
      50,
      ['413', 'none'],
      (socket) => {
        socket.write(`${post}Transfer-Encoding: chunked\r\n\r\n`);
        pour(socket, `4000\r\n${' '.repeat(16_384)}\r\n`);
      },
    ],
    [
      'headers without end',
      50,
      ['431', 'none'],
      (socket) => {
        socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
        pour(socket, `X-${'y'.repeat(50)}: ${'z'.repeat(1000)}\r\n`);
      },
    ],
    [
      'bodies shorter than announced',
      50,
      ['400', 'none'],
      (socket) => socket.end(`${post}Content-Length: 1000\r\n\r\n{}`),
    ],
  ];
  for (const [what, connections, statuses, act] of attacks) {
    it(`answers ${what} with ${statuses[0]}, without delaying others`, async () => {
      only(await during(what, () => new Sockets(url).keep(connections, attackMs, act)), ...statuses, 'none');
    });
  }

  it('refuses bodies that unpack to a thousand times their size with 415, and unpacks nothing', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024, 32));
    const head = `${post}Content-Encoding: gzip\r\nConnection: close\r\nContent-Length: ${bomb.length}\r\n\r\n`;
    const sockets = await during('gzip bombs of 100 MiB', () =>
      new Sockets(url).keep(50, attackMs, (socket) => {
        socket.write(head);
        socket.write(bomb);
      }),
    );
    only(sockets, '415', 'none');
  });

  it('refuses JSON that takes long to parse, without delaying others for long', async () => {
    const size = 255 * 1024;
    const bodies = [
      `{"name":"${'\\"'.repeat(size / 2)}"}`,
      `{"name":"${'\\\\'.repeat(size / 2)}"}`,
      `{${Array.from({ length: size / 12 }, (_, i) => `"k${i}":1`).join()}}`,
      `{"name":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
      `{"name":${'9'.repeat(size)}}`,
      `{"name":[${'{},'.repeat(size / 4)}{}]}`,
      `{"name":"${'é'.repeat(size / 2)}"}`,
    ].map((body) => `${post}Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    let next = 0;
    const sockets = await during('255 KiB of brackets, escapes, members, digits', () =>
      new Sockets(url).keep(4, attackMs, (socket) => socket.write(bodies[next++ % bodies.length] ?? '')),
    );
    only(sockets, '401', '400', 'none');
  });

  it('stops reading pipelined requests whose answers nobody reads', async () => {
    await during('50 connections that never read', () =>
      new Sockets(url).keep(50, attackMs, (socket) => {
        socket.pause();
        pour(socket, 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n');
      }),
    );
  });

  it('answers a flood of guessed keys with 401, without delaying others for long', async () => {
    const guess = `${post}Connection: close\r\nAuthorization: Bearer mk_dev_${'a'.repeat(43)}\r\nContent-Length: 2\r\n\r\n{}`;
    only(
      await during('20 connections guessing keys', () =>
        new Sockets(url).keep(20, attackMs, (socket) => socket.write(guess)),
      ),
      '401',
      'none',
    );
  });
});
