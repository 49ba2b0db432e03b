import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { listAudit, listKeys } from '../../../src/primitives/org/admin.ts';
import { type MusterService, startService } from '../../../src/service.ts';
import { visit } from '../../answer/answers.ts';
import { redisUrl } from '../../support/store.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';

/** A name that JSON and the journal must quote. */
const holder = 'planner "7"\\ü, Ω';
const permissions = ['coordination_read', 'coordination_write', 'resource_config', 'resource_spend'];

describe('Who deletes, purges, requeues, pauses, resumes, cancels, releases by force or answers', () => {
  const lines: Record<string, unknown>[] = [];
  let service: MusterService;
  let world: World;
  let keyId: string;
  let bound: { Authorization: string };

  before(async () => {
    const log = pino({ level: 'info', base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
    service = await startService({ redisUrl: await redisUrl(), role: 'api', host: '127.0.0.1', port: 0, log });
  });
  after(() => service.stop());
  beforeEach(async () => {
    world = await World.create({ on: service });
    bound = { Authorization: `Bearer ${await world.key(permissions, undefined, { holder })}` };
    keyId = (await listKeys(world.service, world.org)).at(-1)?.keyId ?? '';
    lines.splice(0);
  });

  const eventsOf = async (...types: string[]): Promise<{ type: string; payload: Record<string, unknown> }[]> =>
    (await world.get('/events?limit=500')).body.events.filter(({ type }: { type: string }) => types.includes(type));
  const by = (method: string, path: string, body?: unknown): Promise<Reply> => world.call(method, path, body, bound);
  const make = (path: string, body: object) => world.mustPost(path, body);
  const scopeId = randomUUID();
  const mailbox = () => make('/mailboxes', { name: 'jobs' });
  const message = async (mailboxId?: string): Promise<{ id: string; mailboxId: string }> =>
    make(`/mailboxes/${mailboxId ?? (await mailbox()).id}/messages`, { scopeId, payload: 1 });
  const cancelled = async (mailboxId?: string) => {
    const sent = await message(mailboxId);
    await world.mustPost(`/messages/${sent.id}/cancel`);
    return sent;
  };
  const schedule = (mailboxId: string) =>
    make('/schedules', { name: randomUUID(), mailboxId, scopeId, payload: 1, everySeconds: 3_600 });
  const ask = () => make('/questions', { scopeId, question: 'Go?' });

  /** By the action in the trail: what does it, on its target, and what the detail adds. */
  const acts: Record<string, () => Promise<[target: string, reply: Reply, more?: object]>> = {
    'mailbox.deleted': async () => {
      const { id } = await mailbox();
      return [id, await by('DELETE', `/mailboxes/${id}`)];
    },
    'mailbox.paused': async () => {
      const { id } = await mailbox();
      return [id, await by('POST', `/mailboxes/${id}/pause`)];
    },
    'mailbox.resumed': async () => {
      const { id } = await mailbox();
      await world.mustPost(`/mailboxes/${id}/pause`);
      return [id, await by('POST', `/mailboxes/${id}/resume`)];
    },
    'mailbox.purged': async () => {
      const { mailboxId } = await message();
      return [mailboxId, await by('POST', `/mailboxes/${mailboxId}/purge`, {}), { cancelled: 1 }];
    },
    'mailbox.purged, finished ones': async () => {
      const { mailboxId } = await cancelled();
      return [mailboxId, await by('POST', `/mailboxes/${mailboxId}/purge`, { finished: true }), { removed: 1 }];
    },
    'mailbox.requeued': async () => {
      const { mailboxId } = await cancelled();
      const more = { state: 'CANCELLED', requeued: 1 };
      return [mailboxId, await by('POST', `/mailboxes/${mailboxId}/requeue`, { state: 'CANCELLED' }), more];
    },
    'message.cancelled': async () => {
      const { id } = await message();
      return [id, await by('POST', `/messages/${id}/cancel`)];
    },
    'message.released': async () => {
      const { id, mailboxId } = await message();
      await make(`/mailboxes/${mailboxId}/recv`, { scopeId, holder: 'stuck', holderSession: 's' });
      return [id, await by('POST', `/messages/${id}/release`)];
    },
    'message.requeued': async () => {
      const { id } = await cancelled();
      return [id, await by('POST', `/messages/${id}/requeue`)];
    },
    'bulk.started': async () => {
      const { mailboxId } = await message();
      const reply = await by('POST', `/mailboxes/${mailboxId}/bulk`, { action: 'PURGE' });
      return [reply.body.id, reply, { action: 'PURGE', mailboxId }];
    },
    'bulk.cancelled': async () => {
      const { mailboxId } = await message();
      const { id } = await make(`/mailboxes/${mailboxId}/bulk`, { action: 'PURGE' });
      return [id, await by('POST', `/bulk/${id}/cancel`)];
    },
    'scope.paused': async () => {
      const { id } = await make('/scopes', {});
      return [id, await by('POST', `/scopes/${id}/pause`)];
    },
    'scope.resumed': async () => {
      const { id } = await make('/scopes', {});
      await world.mustPost(`/scopes/${id}/pause`);
      return [id, await by('POST', `/scopes/${id}/resume`)];
    },
    'scope.cancelled': async () => {
      const { id } = await make('/scopes', {});
      return [id, await by('POST', `/scopes/${id}/cancel`)];
    },
    'barrier.cancelled': async () => {
      const { id } = await make('/barriers', { scopeId, target: 2 });
      return [id, await by('POST', `/barriers/${id}/cancel`)];
    },
    'schedule.paused': async () => {
      const { id } = await schedule((await mailbox()).id);
      return [id, await by('PATCH', `/schedules/${id}`, { state: 'PAUSED' })];
    },
    'schedule.resumed': async () => {
      const { id } = await schedule((await mailbox()).id);
      await world.call('PATCH', `/schedules/${id}`, { state: 'PAUSED' });
      return [id, await by('PATCH', `/schedules/${id}`, { state: 'ACTIVE' })];
    },
    'schedule.deleted': async () => {
      const { id } = await schedule((await mailbox()).id);
      return [id, await by('DELETE', `/schedules/${id}`)];
    },
    'note.deleted': async () => {
      await world.call('PUT', `/scopes/${scopeId}/notes/plan`, { value: 1 });
      return [scopeId, await by('DELETE', `/scopes/${scopeId}/notes/plan`), { key: 'plan' }];
    },
    'pool.deleted': async () => {
      const { id } = await make('/pools', { name: randomUUID(), units: 1 });
      return [id, await by('DELETE', `/pools/${id}`)];
    },
    'hold.released': async () => {
      const pool = await make('/pools', { name: randomUUID(), units: 1 });
      const { id } = await make(`/pools/${pool.id}/acquire`, { scopeId, holder: 'h' });
      return [id, await by('POST', `/pool-holds/${id}/release`, { force: true })];
    },
    'question.answered': async () => {
      const { id } = await ask();
      return [id, await by('POST', `/questions/${id}/answer`, { answer: true }), { answeredBy: holder }];
    },
    'question.withdrawn': async () => {
      const { id } = await ask();
      return [id, await by('POST', `/questions/${id}/withdraw`)];
    },
  };

  for (const [what, act] of Object.entries(acts))
    it(`is named in the event, the log line and the audit trail: ${what}`, async () => {
      const [action = ''] = what.split(',');
      const [target, reply, more = {}] = await act();
      expect(reply.status, reply.text).to.be.within(200, 204);
      const actor = `${keyId} ${holder}`;
      const { entries } = await listAudit(world.service, world.org, { limit: 1 });
      const [{ at: _at, ...entry } = { at: '' }] = entries;
      expect(entry).to.deep.equal({ action, actor, target, detail: { spaceId: world.spaceId, ...more } });
      const line = lines.filter(({ method }) => method !== undefined).at(-1);
      expect(line, 'the log line').to.include({ actor, requestId: reply.headers.get('X-Request-Id') });
      const { events } = (await world.get('/events?limit=500')).body;
      // A released message is retried in the same step.
      const last = events.findLast(({ type }: { type: string }) => type !== 'message.retried');
      // A forced release says `forced`; a finished message is removed without an event.
      if (action !== 'hold.released' && !what.includes('finished'))
        expect(last.payload.actor, last.type).to.equal(actor);
    });

  it('is not named where nobody asked for it by itself, and a call that changes nothing leaves no entry', async () => {
    const { id, mailboxId } = await message();
    await by('POST', `/scopes/${scopeId}/cancel`);
    const events = await eventsOf('message.cancelled', 'scope.cancelled');
    expect(events.map(({ type, payload }) => [type, 'actor' in payload])).to.deep.equal([
      ['scope.cancelled', true],
      ['message.cancelled', false],
    ]);
    const before = await listAudit(world.service, world.org);
    expect(codeOf(await by('POST', `/messages/${id}/requeue`))).to.equal('409 SCOPE_CANCELLED');
    await by('POST', `/messages/${id}/cancel`);
    await by('POST', `/scopes/${scopeId}/cancel`);
    await by('POST', `/mailboxes/${mailboxId}/purge`, {});
    expect(await listAudit(world.service, world.org)).to.deep.equal(before);
    const [send] = [await by('POST', `/mailboxes/${mailboxId}/messages`, { scopeId: randomUUID(), payload: 1 })];
    expect(send.status).to.equal(201);
    expect(lines.at(-1), 'a send names nobody').to.not.have.property('actor');
  });

  it('is the link where a person answers on the page of a question', async () => {
    const { id, answerUrl } = await ask();
    expect((await visit(answerUrl, { answer: 'yes', answeredBy: 'Ann "A"' })).status).to.be.below(400);
    const { entries } = await listAudit(world.service, world.org, { limit: 1 });
    expect(entries[0]).to.deep.include({
      actor: 'link',
      target: id,
      detail: { spaceId: world.spaceId, answeredBy: 'Ann "A"' },
    });
    expect((await eventsOf('question.answered'))[0]?.payload['actor']).to.equal('link');
  });

  it('is found by the key: in the CLI, and over REST by keys that may manage it', async () => {
    for (let n = 0; n < 3; n++) await by('POST', `/mailboxes/${(await mailbox()).id}/pause`);
    await world.mustPost(`/mailboxes/${(await mailbox()).id}/pause`);
    const ofKey = await listAudit(world.service, world.org, { key: keyId });
    expect(ofKey.entries.map(({ action }) => action)).to.deep.equal(Array(3).fill('mailbox.paused'));
    expect(ofKey.nextCursor).to.equal(null);
    const admin = { Authorization: `Bearer ${await world.key(['key_admin', ...permissions])}` };
    const read = (query = '', headers = admin, id = keyId) =>
      world.send('GET', `/v1/keys/${id}/audit${query}`, undefined, headers);
    const first = await read('?limit=2');
    expect(first.body.entries).to.deep.equal(ofKey.entries.slice(0, 2));
    const second = await read(`?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body).to.deep.equal({ entries: ofKey.entries.slice(2), nextCursor: null });
    const small = { Authorization: `Bearer ${await world.key(['key_admin', 'coordination_read'])}` };
    expect(codeOf(await read('', small)), 'a key that may do more').to.equal('404 KEY_NOT_FOUND');
    expect(codeOf(await read('', bound))).to.equal('403 PERMISSION_DENIED');
    expect(codeOf(await read('', admin, randomUUID()))).to.equal('404 KEY_NOT_FOUND');
    expect(codeOf(await read(`?cursor=${first.body.nextCursor}x`))).to.equal('400 INVALID_CURSOR');
  });

  it('was last seen in the minute of its last request, if the key is bound to a holder', async () => {
    const timed = await World.create();
    const start = Math.ceil(Date.now() / 86_400_000) * 86_400_000 + 3_661_000;
    const headers = { Authorization: `Bearer ${await timed.key(permissions, undefined, { holder })}` };
    const lastUsed = async () => (await listKeys(timed.service, timed.org)).at(-1)?.lastUsedAt;
    for (const [seconds, minute] of [
      [0, -1],
      [58, -1],
      [59, 59],
      [3_600, 3_599],
    ] as const) {
      await timed.at(start + seconds * 1000);
      await timed.call('GET', '/census', undefined, headers);
      expect(await lastUsed(), `${seconds} s`).to.equal(new Date(start + minute * 1000).toISOString());
    }
  });
});
