import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { many as manyOf } from '../../src/engine/declare/record.ts';
import { readMember, replyReader } from '../../src/engine/declare/reply.ts';
import type { Reply } from '../../src/engine/declare/value.ts';
import { Refusal } from '../../src/engine/redis/scripts.ts';
import { randomTail } from '../../src/engine/route/args.ts';
import { maxReceivedBytes } from '../../src/engine/route/route.ts';
import { ReceivedClaim } from '../../src/primitives/mailbox/records.ts';
import { longMs, many } from '../support/long.ts';
import { someTrace } from '../support/trace.ts';
import { World } from '../support/world.ts';
import { callIn, digest, fingerprint, withNumberedIds } from './gathered-support.ts';

type Kind = 'message.send' | 'message.recv' | 'message.renew' | 'message.complete';

interface Call {
  readonly space: number;
  readonly idempotencyKey: number;
  readonly scope: number;
  readonly box: number;
  readonly key: number;
  readonly which: number;
}

/** The same in both: queues with one time are ordered by their scopes. */
const roots = [1, 2, 3].map((n) => `0190a1b2-000${n}-7000-8000-000000000000`) as [string, string, string];
const startsAt = Date.UTC(2030, 0, 1, 12);

/** One organization with two spaces, each with two mailboxes and a group; all instances are equal. */
const received = replyReader('mailbox/recv', [readMember('claims:receivedClaim[]')], { claims: manyOf(ReceivedClaim) });

class Mailboxes {
  readonly worlds: World[] = [];
  readonly parts: { boxes: string[]; groupId: string }[] = [];
  readonly scopes: string[][] = [];
  readonly claims: { id: string; token: string; space: number }[] = [];
  /** Answers and refusals, in order. */
  readonly answers: unknown[] = [];
  #now = startsAt;

  static async create(condition: string): Promise<Mailboxes> {
    const mailboxes = new Mailboxes();
    const world = await World.create({ figures: { agents: '9', tasks: '25', runs: '5' }, limits: { maxBacklog: 15 } });
    await world.at(startsAt);
    mailboxes.worlds.push(world, await world.anotherSpace());
    for (const one of mailboxes.worlds) {
      const [parentScopeId, second, third] = roots;
      const mailboxId = (await one.mustPost('/mailboxes', { name: 'a', backlogLimit: 12, perKey: 1 })).id;
      const inbox = (await one.mustPost('/mailboxes', { name: 'b', mode: 'INBOX' })).id;
      const group = await one.mustPost('/task-groups', { mailboxId, parentScopeId, condition });
      for (const taskKey of ['a', 'b', 'c']) {
        await one.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: parentScopeId, payload: taskKey });
        await one.mustPost(`/task-groups/${group.id}/tasks`, { taskKey });
      }
      await one.post(`/task-groups/${group.id}/seal`);
      mailboxes.parts.push({ boxes: [mailboxId, inbox], groupId: group.id });
      mailboxes.scopes.push([parentScopeId, group.scopeId, second, third]);
    }
    return mailboxes;
  }

  #args(kind: Kind, { space, scope, box, key, which }: Call, index: number): Record<string, string | number> {
    const boxes = this.parts[space]?.boxes ?? [];
    const scopeId = this.scopes[space]?.[scope] ?? '';
    const mailboxId = boxes[box] ?? '';
    const mine = this.claims.filter((claim) => claim.space === space);
    const claim = mine[mine.length - 1 - (which % Math.max(1, mine.length))] ?? { id: randomUUID(), token: 'none' };
    const workKey = key < 3 ? `key ${key}` : '';
    const tail = randomTail();
    const leaseSeconds = 5 + which;
    if (kind === 'message.recv') {
      const max = 1 + (which % 3);
      const tokens = Array.from({ length: max }, (_, n) => `token ${this.answers.length + index} ${n}`).join('');
      const limits = { leaseSeconds, max, isHeld: '', bytesLimit: maxReceivedBytes };
      return { mailboxId, scopeId, holder: 'h', holderSession: 's', tokens, ...limits };
    }
    if (kind === 'message.renew')
      return { messageId: claim.id, token: claim.token, leaseSeconds, progress: key < 3 ? `${key}` : '' };
    if (kind === 'message.send') {
      const limits = {
        deadline: which === 0 ? this.#now + 9000 : '',
        delaySeconds: key === 4 ? 1 : '',
        maxAttempts: '',
        prerequisites: '',
        traceparent: which === 1 ? someTrace(`${key}`) : '',
        tracestate: '',
      };
      const order = { priority: which % 2 === 0 ? '' : `${which}`, key: key % 2 === 0 ? '' : `key ${scope}` };
      return { mailboxId, scopeId, payload: `${key}`, workKey, ...limits, ...order, tail };
    }
    const to = { resultMailboxId: mailboxId, resultScopeId: scopeId, resultWorkKey: workKey };
    const nowhere = { resultMailboxId: '', resultScopeId: '', resultWorkKey: '' };
    return { messageId: claim.id, token: claim.token, result: `${key}`, tail, ...(key % 2 ? to : nowhere) };
  }

  #call(kind: Kind, call: Call, index: number): Promise<Reply> {
    const world = this.worlds[call.space] as World;
    const isKeyed = kind !== 'message.recv' && call.idempotencyKey < 3;
    return callIn(world, {
      script: kind.replace('message.', 'mailbox/'),
      callName: kind,
      idempotencyDigest: isKeyed ? digest(`${kind} ${call.idempotencyKey}`) : '',
      fingerprint: fingerprint(`${call.key < 4}`),
      args: this.#args(kind, call, index),
    });
  }

  /** Advances the clock, sweeps, then runs the calls. */
  async run(kind: Kind, calls: readonly Call[], passMs: number, together: boolean): Promise<void> {
    const [world] = this.worlds as [World];
    this.#now += passMs;
    await world.at(this.#now);
    await world.service.due.drain(world.org);
    // A run is ordered by space.
    const inOrder = calls.toSorted((a, b) => a.space - b.space);
    const start = (index: number) => Promise.allSettled([this.#call(kind, inOrder[index] as Call, index)]);
    const results: PromiseSettledResult<Reply>[] = [];
    if (together) results.push(...(await Promise.all(inOrder.map((_, index) => start(index)))).flat());
    else for (const index of inOrder.keys()) results.push(...(await start(index)));
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected' && !(result.reason instanceof Refusal)) throw result.reason;
      this.answers.push(result.status === 'fulfilled' ? result.value.slice(1) : result.reason.message);
      if (kind !== 'message.recv' || result.status === 'rejected' || result.value.length === 1) continue;
      const space = inOrder[index]?.space ?? 0;
      for (const { id, token } of received(result.value.slice(1))?.claims ?? []) this.claims.push({ id, token, space });
    }
  }

  /** Everything that is visible from outside, and the counters; ids by their order of first appearance. */
  async state(): Promise<unknown> {
    const seen: unknown[] = [this.answers];
    for (const [space, world] of this.worlds.entries()) {
      const { boxes, groupId } = this.parts[space] as (typeof this.parts)[number];
      const paths = boxes.map((id) => `/mailboxes/${id}/messages?limit=200`);
      paths.push('/mailboxes', `/task-groups/${groupId}`, '/census', '/usage', '/ops/waits', '/backlog');
      for (const path of [...paths, '/events?limit=500']) {
        const { body } = await world.get(path);
        seen.push(body.events ?? body);
      }
      const key = `muster:{${world.org}}`;
      for (const scopeId of this.scopes[space] ?? [])
        seen.push(await world.service.store.hgetall(`${world.prefix}:scope:${scopeId}`));
      seen.push(await world.service.store.zrange(`${key}:timers`, '0', '-1', 'WITHSCORES'));
      seen.push(
        await world.service.store.hmget(key, 'usedTasks', 'usedAgents', 'usedRuns', 'usedOperations', 'nextDue'),
      );
    }
    return withNumberedIds(seen);
  }
}

describe('mailbox calls that share an FCALL', function () {
  this.timeout(longMs);

  const call = fc.record<Call>({
    space: fc.constantFrom(0, 0, 0, 1),
    idempotencyKey: fc.nat(20),
    scope: fc.constantFrom(0, 0, 1, 1, 2, 3),
    box: fc.constantFrom(0, 0, 0, 1),
    key: fc.nat(7),
    which: fc.nat(6),
  });
  const kinds = ['message.send', 'message.recv', 'message.recv', 'message.renew', 'message.complete'] as const;
  const batch = fc.tuple(fc.constantFrom(...kinds), fc.array(call, { minLength: 2, maxLength: 24 }), fc.nat(3000));

  it('have the same answers and records as one after the other, even if some are refused', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom('ALL_TERMINAL', 'FIRST_ACCEPTED'),
      fc.array(batch, { minLength: 4, maxLength: 14 }),
      async (condition, batches) => {
        const together = await Mailboxes.create(condition);
        const apart = await Mailboxes.create(condition);
        for (const [kind, calls, passMs] of batches) {
          await together.run(kind, calls, passMs, true);
          await apart.run(kind, calls, passMs, false);
        }
        expect(await together.state()).to.deep.equal(await apart.state());
      },
    );
    await fc.assert(property, { numRuns: many(10, 300) });
  });
});
