import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { connect } from '../../../src/redis/connection.ts';
import { type Snapshot, snapshotFolder } from '../../../src/snapshot/folder.ts';
import { failure, record } from '../../support/cli.ts';
import { OwnStore } from '../../support/own-store.ts';
import { type Access, call, type MusterProcess, Processes, until } from '../../support/processes.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const holder = { scopeId, holder: 'a', holderSession: 's' };
const org = 'muster:{dev}';

/** Every key of the organization with its expiry and content as Redis stores it, except the epoch. */
async function contentOf(url: string): Promise<Map<string, string>> {
  const redis = (await connect(url)) as Redis;
  const keys = (await redis.keys(`${org}*`)).sort();
  const content = new Map<string, string>();
  for (const key of keys) {
    const isHash = (await redis.type(key)) === 'hash';
    const { epoch: _, ...fields } = isHash ? await redis.hgetall(key) : {};
    const value = isHash
      ? JSON.stringify(Object.entries(fields).sort())
      : (await redis.dumpBuffer(key)).toString('hex');
    content.set(key, `${await redis.pexpiretime(key)} ${value}`);
  }
  redis.disconnect();
  return content;
}

describe('A snapshot under load, restored elsewhere', () => {
  const processes = new Processes();
  let original: MusterProcess;
  let restored: MusterProcess;
  let access: Access;
  let created: Snapshot;
  let file: string;
  let folder: string;
  let cursor: string;
  let ownStore: OwnStore | undefined;
  let claim: { id: string; token: string };
  const earlier = new Map<string, number>();
  const eventIds = new Set<string>();
  const events = async ({ url }: MusterProcess): Promise<string[]> => {
    const found: string[] = [];
    for (let at = ''; ; ) {
      const { body } = await call(url, access, `/events?limit=500${at}`);
      if (body.events.length === 0) return found;
      found.push(...body.events.map(({ eventId }: { eventId: string }) => eventId));
      at = `&cursor=${body.nextCursor}`;
    }
  };

  before(async () => {
    const DATA_DIR = await processes.folder();
    original = await processes.start({ DATA_DIR }).ready();
    const { url } = original;
    ({ access } = original);
    const mailbox = (await call(url, access, '/mailboxes', { name: 'jobs', backlogLimit: 50_000 })).body.id;
    const send = (n: number) => call(url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: n });
    await send(-1);
    claim = (await call(url, access, `/mailboxes/${mailbox}/recv`, { ...holder, leaseSeconds: 600 })).body;
    cursor = (await call(url, access, '/events')).body.nextCursor;

    const acknowledged = new Map<string, number>();
    let isOver = false;
    let next = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const n = next++;
        const { status, body } = await send(n);
        expect(status).to.equal(201);
        acknowledged.set(body.id, n);
      }
    });
    await until(() => acknowledged.size > 100);
    for (const [id, n] of acknowledged) earlier.set(id, n);
    created = await record(['snapshot', 'create'], { DATA_DIR });
    file = join(DATA_DIR, 'snapshots', `${created.snapshot}.rdb`);
    const atSnapshot = acknowledged.size;
    await until(() => acknowledged.size > atSnapshot + 50);
    isOver = true;
    await Promise.all(load);
    for (const id of await events(original)) eventIds.add(id);
    expect((await original.end('SIGTERM')).status).to.equal(0);

    folder = join(await processes.folder(), 'elsewhere');
    const answer = await record(['snapshot', 'restore', file], { DATA_DIR: folder });
    expect(answer).to.deep.include({ restored: file, createdAt: created.createdAt, organizations: 1 });
    expect(answer.keys).to.be.greaterThan(100);
    restored = await processes.start({ DATA_DIR: folder }).ready();
  });
  after(async () => {
    await ownStore?.stop();
    await restored?.end('SIGTERM');
    await processes.clear();
  });

  it('has everything acknowledged before the snapshot began, under the same API key', async () => {
    const found = new Map<string, unknown>();
    const mailbox = (await call(restored.url, access, '/mailboxes')).body.mailboxes[0].id;
    for (let at: string | null = ''; at !== null; ) {
      const { body } = await call(restored.url, access, `/mailboxes/${mailbox}/messages?limit=200${at}`);
      for (const { id, payload } of body.messages) found.set(id, payload);
      at = body.nextCursor && `&cursor=${body.nextCursor}`;
    }
    for (const [id, n] of earlier) expect(found.get(id)).to.equal(n);
    const done = await call(restored.url, access, `/messages/${claim.id}/complete`, { token: claim.token });
    expect(done.body).to.include({ state: 'ACKED', replay: false });
  });

  it('answers 410 to earlier cursors, and never issues an event id again', async () => {
    const late = await call(restored.url, access, `/events?cursor=${cursor}`);
    expect([late.status, late.body.error.code]).to.deep.equal([410, 'CURSOR_EXPIRED']);
    const kept = new Set(await events(restored));
    for (let n = 0; n < 20; n++) await call(restored.url, access, '/mailboxes', { name: String(n) });
    const issued = (await events(restored)).filter((id) => !kept.has(id));
    expect(issued).to.have.length.at.least(20);
    expect(issued.filter((id) => eventIds.has(id))).to.deep.equal([]);
    const newest = [...eventIds].sort().at(-1) ?? '';
    for (const id of issued) expect(id > newest).to.equal(true);
  });

  it('is the same, key by key, in the server of REDIS_URL, which must be empty, too', async () => {
    ownStore = await OwnStore.start();
    const dataDir = await processes.folder();
    const settings = { REDIS_URL: ownStore.url, DATA_DIR: dataDir };
    const [here, there] = await Promise.all([
      record(['snapshot', 'restore', file], { DATA_DIR: dataDir }),
      record(['snapshot', 'restore', file], { ...settings, DATA_DIR: folder }),
    ]);
    // Locks of the queues may have expired in between.
    expect((await readdir(snapshotFolder(folder))).filter((name) => name.startsWith('restore-'))).to.deep.equal([]);
    for (const answer of [here, there]) expect(answer).to.include({ createdAt: created.createdAt, organizations: 1 });
    const embedded = await startEmbedded({ dataDir, log: () => undefined });
    expect(await contentOf(ownStore.url)).to.deep.equal(await contentOf(embedded.socketPath));
    await embedded.stop();
    const { code, message } = await failure(['snapshot', 'restore', file], settings);
    expect([code, message]).to.deep.equal([
      'STORE_NOT_EMPTY',
      'the store in REDIS_URL is not empty: restore into an empty one. If it lost its data, running Muster processes have written to it since: stop them, then FLUSHDB. If an earlier restore was interrupted: FLUSHDB',
    ]);
  });
});
