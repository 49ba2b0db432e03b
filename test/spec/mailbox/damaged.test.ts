import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { allRoutes } from '../../../src/primitives/primitives.ts';
import { type MusterService, startService } from '../../../src/service.ts';
import { expectAgreement } from '../../support/agree.ts';
import { redisUrl } from '../../support/store.ts';
import { codeOf, overrides, type Reply, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

const day = 86_400_000;
/** Messages of a segment. */
const size = 10;

describe('Packed messages that the store has damaged', () => {
  let world: World;
  let queue: Queue;
  let now: number;
  /** One that has opened no segment. */
  let fresh: MusterService;
  let there: World;
  let groupId: string;
  /** One whose member is damaged. */
  let decidedId: string;
  /** All messages, in the order of the list: those of every third place ACKED, CANCELLED and REJECTED. */
  const ids: string[] = [];
  const claims: { id: string; token: string }[] = [];
  const lines: string[] = [];
  /** Those that are as before; those that are damaged are `first` to `last`. */
  let readable: string[];
  let damaged: string[];
  let content: Buffer;
  let segmentKey: string;
  /** Every answer before, by path. */
  const answers = new Map<string, string>();

  const pass = (ms: number) => {
    now += ms;
    return world.at(now);
  };
  const bare = ({ text }: Reply) => text.replace(/,"requestId":"[^"]+"\}\}$/, '}}').replace(/"asOf":"[^"]+"/, '');

  /** Paths of all reads but those of messages and the journal's stream, with the ids of what there is. */
  function otherReads(): string[] {
    const known: Record<string, string> = { mailboxId: queue.id, scopeId: queue.scopeId, groupId };
    return allRoutes
      .filter(
        ({ method, refuses, call }) => method === 'GET' && !refuses.includes('MESSAGES_DAMAGED') && call !== 'run.view',
      )
      .map(({ path }) => path.replaceAll(/:(\w+)/g, (_, name: string) => known[name] ?? randomUUID()));
  }

  const readAll = async (of: World) => {
    const answered = new Map<string, string>();
    for (const path of [...answers.keys()]) answered.set(path, bare(await of.get(path)));
    return answered;
  };

  before(async () => {
    world = await World.create();
    now = Math.ceil(Date.now() / day) * day;
    await pass(0);
    queue = await Queue.create({}, world);
    const group = { parentScopeId: randomUUID(), mailboxId: queue.id, condition: 'ALL_TERMINAL' };
    groupId = (await world.mustPost('/task-groups', group)).groupId;
    for (let n = 0; n < 30; n++) {
      await pass(1);
      if (n === 19) {
        decidedId = (await world.mustPost('/task-groups', { ...group, parentScopeId: randomUUID() })).groupId;
        ids.push((await world.mustPost(`/task-groups/${decidedId}/tasks`, { taskKey: 't', input: 1 })).messageId);
        const { scopeId } = (await world.get(`/task-groups/${decidedId}`)).body;
        await queue.act('complete', await queue.claim({ scopeId }), { result: { payload: n } });
        await world.mustPost(`/task-groups/${decidedId}/seal`);
        continue;
      }
      // A member of a group in their midst, and two that are not over, are not packed.
      if (n === 17) {
        ids.push((await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 't', input: 1 })).messageId);
        continue;
      }
      const isOver = n !== 15 && n !== 22;
      const id = await queue.sent({ workKey: `key ${n}`, ...(!isOver && { delaySeconds: 3600 }) });
      ids.push(id);
      if (!isOver) continue;
      const claim = n % 3 === 1 ? undefined : await queue.claim();
      if (claim) claims.push(claim);
      if (n % 3 === 0) await queue.act('complete', claim, { result: { payload: n } });
      if (n % 3 === 1) await world.mustPost(`/messages/${id}/cancel`);
      if (n % 3 === 2) await queue.act('nack', claim, { retry: false, error: 'no' });
    }
    await pass(1000);
    const { service, org, spaceId, prefix } = world;
    await service.packing.packMessages(org, spaceId, undefined, { sealAfterMs: 0, isAll: true, size, patienceMs: 0 });
    await world.mustPost(`/messages/${ids[13]}/requeue`);

    const { body } = await queue.list('?limit=200');
    expect(body.messages.map(({ id }: { id: string }) => id)).to.deep.equal(ids);
    for (const path of otherReads()) answers.set(path, '');
    for (const [path, text] of await readAll(world)) answers.set(path, text);

    const [, entry = ''] = await service.store.zrange(`${prefix}:messageSegments`, '0', '-1');
    segmentKey = `${prefix}:messageSegment:${entry.split(' ')[2]}`;
    content = (await service.store.getBuffer(segmentKey)) as Buffer;
    await service.store.set(segmentKey, 'garbage');
    damaged = [10, 11, 12, 14, 16, 18, 19, 20, 21].map((n) => ids[n] ?? '');
    readable = ids.filter((id) => !damaged.includes(id));
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
    fresh = await startService({
      ...{ redisUrl: await redisUrl(), role: 'api', host: '127.0.0.1', port: 0, log, overrides },
    });
    there = new World(fresh, org, spaceId, world.apiKey);
  });
  after(() => fresh.stop());

  const answered = () => `the store has damaged the messages ${damaged[0]} to ${damaged.at(-1)}: tell the operator; `;

  /** Goes through a list as a caller would: the ids of its messages, and how often it was told that some are damaged. */
  async function walk(query: string): Promise<{ found: string[]; refusals: number }> {
    const found: string[] = [];
    let refusals = 0;
    for (let cursor = '', pages = 0; ; pages++) {
      expect(pages).to.be.below(200);
      const reply = await there.get(`/mailboxes/${queue.id}/messages?${query}${cursor}`);
      let next = reply.body.nextCursor;
      if (reply.status !== 200) {
        refusals++;
        expect(codeOf(reply)).to.equal('500 MESSAGES_DAMAGED');
        [, next] = /^(?:.*); cursor=(\S+) continues after them$/.exec(reply.body.error.message) ?? [];
        expect(reply.body.error.message).to.equal(`${answered()}cursor=${next} continues after them`);
      } else found.push(...reply.body.messages.map(({ id }: { id: string }) => id));
      if (!next) return { found, refusals };
      cursor = `&cursor=${next}`;
    }
  }

  it('are named by every call on one of them, with the code that its route declares', async () => {
    const [acked = '', cancelled = ''] = [ids[12], ids[10]];
    const claim = claims.find(({ id }) => id === acked) as { id: string; token: string };
    const act = (what: string, body?: object) => there.post(`/messages/${claim.id}/${what}`, body);
    const calls: Record<string, () => Promise<Reply>> = {
      'message.view': () => there.get(`/messages/${acked}`),
      'message.attempts': () => there.get(`/messages/${acked}/attempts`),
      'message.cancel': () => there.post(`/messages/${cancelled}/cancel`),
      'message.release': () => there.post(`/messages/${acked}/release`),
      'message.requeue': () => there.post(`/messages/${cancelled}/requeue`, {}),
      'message.renew': () => act('renew', { token: claim.token }),
      'message.complete': () => act('complete', { token: claim.token, result: { payload: 12 } }),
      'message.nack': () => act('nack', { token: claim.token, retry: false }),
      'message.suspend': () => act('suspend', { token: claim.token, delaySeconds: 1 }),
      'message.ask': () => act('ask', { token: claim.token, question: 1 }),
      'message.send': () =>
        there.post(`/mailboxes/${queue.id}/messages`, { scopeId: queue.scopeId, payload: 1, workKey: 'key 12' }),
      'message.list': () => there.get(`/mailboxes/${queue.id}/messages?workKey=key%2012`),
      'group.view': () => there.get(`/task-groups/${decidedId}`),
      'group.list': () => there.get('/task-groups?limit=1'),
      'task.submit': () =>
        there.post(`/task-groups/${groupId}/tasks`, { taskKey: 'after', after: [{ messageId: acked }] }),
      'note.put': () =>
        there.call('PUT', `/scopes/${queue.scopeId}/notes/plan`, { value: 1, messageId: acked, token: claim.token }),
      'group.join': () => there.post(`/task-groups/${groupId}/join-task`, { taskId: acked }),
    };
    const declared = allRoutes.filter(({ refuses }) => refuses.includes('MESSAGES_DAMAGED')).map(({ call }) => call);
    // Those of many stand below.
    expect([...Object.keys(calls), 'mailbox.requeue', 'mailbox.purge']).to.have.members(declared);
    for (const [call, make] of Object.entries(calls)) {
      const reply = await make();
      expect(codeOf(reply), call).to.equal('500 MESSAGES_DAMAGED');
      const [, cursor] = / (cursor=\S+) continues/.exec(reply.body.error.message) ?? [];
      const rest = cursor === undefined ? 'all others are as before' : `${cursor} continues after them`;
      expect(reply.body.error.message, call).to.equal(answered() + rest);
      expect(cursor !== undefined, call).to.equal(call === 'group.list');
      if (cursor) expect((await there.get(`/task-groups?${cursor}`)).body.groups).to.have.length(1);
      expect(reply.headers.get('RateLimit'), call).to.not.equal(null);
    }
    expect(lines.join('')).to.contain(`segment ${segmentKey} of messages is damaged: its 10 messages`);
  });

  it('are passed by lists: a page ends before them, and one that begins with them has the cursor behind them', async () => {
    const special: Record<number, string> = { 13: 'READY', 15: 'DELAYED', 17: 'READY', 22: 'DELAYED' };
    const stateAt = (n: number) => special[n] ?? ['ACKED', 'CANCELLED', 'REJECTED'][n % 3];
    const readableOf = (states: string) => readable.filter((id) => states.includes(stateAt(ids.indexOf(id)) ?? ''));
    for (const limit of [2, 200]) {
      // 10 to 12, 14, 16, 18 to 21.
      expect(await walk(`limit=${limit}`)).to.deep.equal({ found: readable, refusals: 4 });
      const inScope = readable.filter((id) => id !== ids[17]);
      // Without 17 and 19, which are of other runs.
      expect(await walk(`limit=${limit}&scopeId=${queue.scopeId}`)).to.deep.equal({ found: inScope, refusals: 3 });
      for (const [states, refusals] of [
        ['CANCELLED', 1],
        ['REJECTED', 1],
        ['ACKED', 4],
        ['READY,CANCELLED', 2],
      ] as const)
        expect(await walk(`limit=${limit}&state=${states}`), states).to.deep.equal({
          found: readableOf(states),
          refusals,
        });
    }
    const known = await there.get(`/mailboxes/${queue.id}/messages?workKey=key%2015`);
    expect(known.body.messages).to.have.length(1);
  });

  it('are left out of the view of their run, which is truncated', async () => {
    const [whole, run] = [await world.get(`/ops/runs/${queue.scopeId}`), await there.get(`/ops/runs/${queue.scopeId}`)];
    expect(whole.body.truncated).to.equal(false);
    expect(run.body).to.deep.equal({
      ...whole.body,
      messages: whole.body.messages.filter(({ id }: { id: string }) => !damaged.includes(id)),
      truncated: true,
    });
    const { scopeId } = (await world.get(`/task-groups/${decidedId}`)).body;
    const [before, after] = [await world.get(`/ops/runs/${scopeId}`), await there.get(`/ops/runs/${scopeId}`)];
    expect(before.body.messages).to.have.length(1);
    expect(after.body).to.deep.equal({ ...before.body, messages: [], truncated: true });
  });

  it('change nothing else that is read', async () => {
    for (const id of readable)
      expect(bare(await there.get(`/messages/${id}`))).to.equal(bare(await world.get(`/messages/${id}`)));
    const group = `/task-groups/${groupId}`;
    expect(bare(await there.get(group))).to.equal(bare(await world.get(group)));
    for (const [path, text] of await readAll(there)) expect(text, path).to.equal(answers.get(path));
  });

  it('are passed by a requeue of many, which ends before them and has the cursor behind them, and by a purge', async () => {
    const requeue = (cursor?: string) =>
      there.post(`/mailboxes/${queue.id}/requeue`, { state: 'REJECTED', max: 3, ...(cursor && { cursor }) });
    const steps: (number | string)[] = [];
    for (let cursor: string | undefined; ; ) {
      const reply = await requeue(cursor);
      steps.push(reply.status === 200 ? reply.body.requeued : codeOf(reply));
      cursor = reply.body.nextCursor ?? /; cursor=(\S+) continues/.exec(reply.body.error?.message)?.[1];
      if (!cursor) break;
    }
    // 2, 5, 8; 11, 14, 20; 23, 26, 29.
    expect(steps).to.deep.equal([3, '500 MESSAGES_DAMAGED', 3]);
    const purged = await there.post(`/mailboxes/${queue.id}/purge`, {});
    expect(purged.body).to.deep.equal({ cancelled: 10, nextCursor: null });
  });

  it('are passed by the removal of finished messages, which has the cursor behind them', async () => {
    const { found } = await walk('limit=200');
    let refusals = 0;
    let removed = 0;
    for (let cursor: string | undefined; ; ) {
      const more = cursor === undefined ? {} : { cursor };
      const reply = await there.post(`/mailboxes/${queue.id}/purge`, { finished: true, ...more });
      if (reply.status === 200) removed += reply.body.removed;
      else refusals++;
      cursor = reply.body.nextCursor ?? /; cursor=(\S+) continues/.exec(reply.body.error?.message)?.[1];
      if (!cursor) break;
    }
    // The member of a group that is not decided stays.
    expect({ refusals, removed }).to.deep.equal({ refusals: 4, removed: found.length - 1 });
    expect((await walk('limit=200')).found).to.have.length(1);
  });

  it('stay, and stay counted, when the others are removed; once they are whole again all agrees', async () => {
    const { store } = world.service;
    const retain = async () => {
      await fresh.due.drain(world.org);
      await fresh.retention.retain(world.org);
    };
    await pass(1000);
    await world.service.packing.packMessages(world.org, world.spaceId, undefined, {
      ...{ sealAfterMs: 0, isAll: true, size, patienceMs: 0 },
    });
    await pass(500 * day);
    await retain();
    const { messages } = (await there.get('/census')).body;
    const count = (states: readonly string[]) => states.reduce((sum, state) => sum + messages[state], 0);
    expect(count(['ACKED', 'CANCELLED', 'REJECTED', 'READY', 'FAILED', 'EXPIRED'])).to.equal(damaged.length);
    expect((await walk('limit=200')).found).to.deep.equal([]);
    await store.set(segmentKey, content);
    await expectAgreement(world);
    await retain();
    expect(Object.values((await there.get('/census')).body.messages)).to.deep.equal(Array(9).fill(0));
    await expectAgreement(world);
  });
});
