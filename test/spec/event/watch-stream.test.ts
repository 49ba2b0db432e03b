import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, startService } from '../../../src/service.ts';
import { checkEvent } from '../../support/declared.ts';
import { until } from '../../support/processes.ts';
import { redisUrl } from '../../support/store.ts';
import { World } from '../../support/world.ts';

interface Message {
  id: string;
  event: string;
  data: { eventId: string; type: string };
}

/** Server-sent events as they arrive; `next` resolves with the next `count` that carry data. */
class Stream {
  readonly status: number;
  readonly headers: Headers;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #gone: AbortController;
  #text = '';
  /** The number of chunks received. */
  chunks = 0;
  /** The last id of any block, with or without data. */
  lastId = '';

  private constructor(response: Response, gone: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    if (!response.body) throw new Error('no body');
    this.#reader = response.body.getReader();
    this.#gone = gone;
  }

  static async open(world: World, query: string, headers: Record<string, string> = {}): Promise<Stream> {
    const gone = new AbortController();
    const allHeaders = { Authorization: `Bearer ${world.apiKey}`, Accept: 'text/event-stream', ...headers };
    const url = `${world.url}/v1/spaces/${world.spaceId}/watch?${query}`;
    return new Stream(await fetch(url, { headers: allHeaders, signal: gone.signal }), gone);
  }

  async next(count: number): Promise<Message[]> {
    const found: Message[] = [];
    while (found.length < count) {
      const end = this.#text.indexOf('\n\n');
      if (end === -1) {
        const { value, done } = await this.#reader.read();
        if (done) return found;
        this.chunks++;
        this.#text += Buffer.from(value).toString();
        continue;
      }
      const lines = this.#text.slice(0, end).split('\n');
      this.#text = this.#text.slice(end + 2);
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? '';
      this.lastId = field('id') || this.lastId;
      if (!field('data')) continue;
      const data = JSON.parse(field('data'));
      checkEvent(data);
      found.push({ id: field('id'), event: field('event'), data });
    }
    return found;
  }

  close(): void {
    this.#gone.abort();
  }
}

async function ready(on?: MusterService) {
  const world = await World.create(on ? { on } : {});
  const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
  const scopeId = randomUUID();
  const send = (run = scopeId) => world.mustPost(`/mailboxes/${id}/messages`, { scopeId: run, payload: 1 });
  return { world, send };
}

describe('watch as server-sent events', () => {
  it('streams the same events, each with its cursor as id and its type as event', async () => {
    const { world, send } = await ready();
    const stream = await Stream.open(world, '');
    expect([stream.status, stream.headers.get('Content-Type')]).to.deep.equal([200, 'text/event-stream']);
    await stream.next(1);
    await send();
    await send();
    const messages = await stream.next(3);
    const { body } = await world.get('/events');
    expect(messages.map(({ data }) => data)).to.deep.equal(body.events.slice(1));
    expect(messages.map(({ event }) => event)).to.deep.equal(['scope.created', 'message.sent', 'message.sent']);
    expect(messages.at(-1)?.id).to.equal(body.nextCursor);
    stream.close();
  });

  it('begins with the creation of its scope, and with the next event for a scope that does not exist yet', async () => {
    const { world, send } = await ready();
    const [run, later] = [randomUUID(), randomUUID()];
    await send();
    const second = await Stream.open(world, `scopeId=${later}`);
    await send(run);
    const first = await Stream.open(world, `scopeId=${run}`);
    await send(later);
    const sent = ['scope.created', 'message.sent'];
    for (const stream of [first, second]) {
      expect((await stream.next(2)).map(({ event }) => event)).to.deep.equal(sent);
      stream.close();
    }
  });

  it('has headers that keep proxies from holding its events back or storing them', async () => {
    const stream = await Stream.open(await World.create(), 'cursor=latest');
    const { headers } = stream;
    expect([headers.get('Cache-Control'), headers.get('X-Accel-Buffering')]).to.deep.equal(['no-store', 'no']);
    stream.close();
  });

  it('resumes after Last-Event-ID, which takes precedence over the cursor', async () => {
    const { world, send } = await ready();
    for (let i = 0; i < 3; i++) await send();
    const first = await Stream.open(world, 'types=message.sent');
    const [one, two] = await first.next(2);
    first.close();
    const again = await Stream.open(world, 'types=message.sent&cursor=latest', { 'Last-Event-ID': one?.id ?? '' });
    expect((await again.next(1))[0]).to.deep.equal(two);
    again.close();
    const without = await Stream.open(world, 'types=message.sent', { 'Last-Event-ID': '' });
    expect((await without.next(1))[0]).to.deep.equal(one);
    without.close();
    const page = { Authorization: `Bearer ${world.apiKey}`, 'Last-Event-ID': one?.id ?? '' };
    expect((await world.call('GET', '/watch?types=message.sent&limit=1', undefined, page)).body.events).to.deep.equal([
      one?.data,
    ]);
  });

  it('answers 400 for a malformed Last-Event-ID and 401 for a caller without a key', async () => {
    const { world } = await ready();
    expect((await Stream.open(world, '', { 'Last-Event-ID': 'none' })).status).to.equal(400);
    expect((await Stream.open(world, '', { 'Last-Event-ID': 'none', Authorization: 'Bearer mk_no' })).status).to.equal(
      401,
    );
  });

  it('streams only to a client that accepts it by name, with a weight above 0', async () => {
    const { world } = await ready();
    const typeFor = async (Accept: string): Promise<string | null> => {
      const stream = await Stream.open(world, '', { Accept });
      stream.close();
      return stream.headers.get('Content-Type');
    };
    for (const accept of [
      'text/event-stream',
      'application/json;q=0.1, Text/Event-Stream ; q=0.9',
      'text/event-stream;q=0.001',
    ])
      expect(await typeFor(accept), accept).to.equal('text/event-stream');
    for (const accept of [
      'text/event-stream;q=0',
      'text/event-stream; q=0.000, */*',
      'text/event-streams',
      '*/*',
      'text/*',
      '',
    ])
      expect(await typeFor(accept), accept).to.match(/^application\/json/);
  });

  it('catches up with everything, whatever the limit, without a pause after small pages', async () => {
    const { world, send } = await ready();
    for (let i = 0; i < 12; i++) await send();
    const stream = await Stream.open(world, 'limit=1&types=message.sent');
    expect(await stream.next(12)).to.have.length(12);
    expect(stream.chunks).to.equal(1);
    stream.close();
  });

  it('sends its position while there are no events, and no event twice', async () => {
    const { world, send } = await ready();
    const { setTimeout: begin } = globalThis;
    // The heartbeat of 15 s, shortened.
    globalThis.setTimeout = ((run: () => void, ms?: number, ...rest: []) =>
      begin(run, ms === 15_000 ? 50 : ms, ...rest)) as typeof setTimeout;
    const stream = await Stream.open(world, 'types=message.sent');
    await send();
    const [message] = await stream.next(1);
    const next = stream.next(1);
    const { chunks } = stream;
    await until(() => stream.chunks >= chunks + 2);
    await world.mustPost('/mailboxes', { name: 'other' });
    const { nextCursor } = (await world.get('/watch?cursor=latest')).body;
    await until(() => stream.lastId === nextCursor);
    await send();
    globalThis.setTimeout = begin;
    const [other] = await next;
    expect(other?.data.eventId).to.not.equal(message?.data.eventId);
    stream.close();
  });

  it('shares the bytes of a page among all streams of one filter', async () => {
    const { world } = await ready();
    const streams = await Promise.all(
      ['', '', '&types=message.*'].map((more) => Stream.open(world, `cursor=latest${more}`)),
    );
    await until(() => world.service.feeds.size === 3);
    const concat = Buffer.from;
    const made: string[] = [];
    Buffer.from = ((value: unknown, ...rest: never[]) => {
      if (typeof value === 'string' && value.startsWith('id: ')) made.push(value);
      return concat(value as string, ...rest);
    }) as typeof Buffer.from;
    try {
      await world.mustPost('/mailboxes', { name: 'shared' });
      await world.mustPost('/mailboxes', { name: 'shared, too' });
      const [first, second] = await Promise.all(streams.slice(0, 2).map((stream) => stream.next(2)));
      expect(first).to.deep.equal(second);
      expect(made.join('').match(/^event: mailbox\.created$/gm)).to.have.lengthOf(2);
    } finally {
      Buffer.from = concat;
      for (const stream of streams) stream.close();
    }
  });

  it('frees the watch at once when the client disconnects', async () => {
    const { world } = await ready();
    const stream = await Stream.open(world, 'cursor=latest');
    await until(() => world.service.feeds.size > 0);
    stream.close();
    await until(() => world.service.feeds.size === 0);
  });

  it('answers held watches with an empty page and ends the streams on shutdown', async () => {
    const log = pino({ level: 'silent' });
    const url = await redisUrl();
    const service = await startService({ redisUrl: url, role: 'api', host: '127.0.0.1', port: 0, log });
    const { world } = await ready(service);
    const { nextCursor } = (await world.get('/watch?cursor=latest')).body;
    const held = world.get(`/watch?cursor=${nextCursor}&waitSeconds=30`);
    const stream = await Stream.open(world, `cursor=${nextCursor}`);
    await until(() => service.feeds.size >= 2);
    const stopped = service.stop();
    expect((await held).body).to.deep.equal({ events: [], nextCursor });
    expect(await stream.next(1)).to.deep.equal([]);
    await stopped;
  });
});
