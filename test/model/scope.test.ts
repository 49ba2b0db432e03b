import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { type Item, paths, ScopeModel } from './scope.model.ts';
import { trySequences } from './sequences.ts';

const kinds = ['send', 'delay', 'recv', 'recvAny', 'complete', 'retry', 'barrier', 'arrive', 'make', 'pass'] as const;
interface Step {
  readonly do: (typeof kinds)[number] | 'cancel';
  readonly scope: number;
  readonly index: number;
}
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constantFrom(...kinds), scope: fc.nat(3), index: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), scope: fc.nat(3), index: fc.nat(9) }) },
);

const met = new Set<string>();
const outcomes = [
  '200',
  '201',
  '204',
  'SCOPE_CANCELLED',
  'CLAIM_LOST',
  'BARRIER_CANCELLED',
  'again',
  'below',
  'delayed',
  'turn',
];

/** Four scopes of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model = new ScopeModel();
  readonly #mailboxId: string;
  readonly #ids = paths.map(() => randomUUID());
  readonly #claims: { item: Item; token: string }[] = [];
  #now: number;

  constructor(curl: Curl, mailboxId: string, now: number) {
    this.#curl = curl;
    this.#mailboxId = mailboxId;
    this.#now = now;
  }

  /** Creates the scopes, so that those below the root have their parents from the start. */
  async begin(): Promise<void> {
    for (const [scope, path] of paths.entries()) {
      const parent = path.at(-2);
      const body = { scopeId: this.#ids[scope], ...(parent !== undefined && { parentScopeId: this.#ids[parent] }) };
      await this.#curl.post('/scopes', body);
      this.#model.use(scope);
    }
  }

  async take({ do: what, scope, index }: Step): Promise<void> {
    this.#now += what === 'pass' ? 3000 : 1;
    await this.#curl.at(this.#now);
    this.#model.pass(this.#now);
    const scopeId = this.#ids[scope] as string;
    const model = this.#model;
    if (what === 'send') await this.#send(scope, scopeId, 0);
    else if (what === 'delay') await this.#send(scope, scopeId, 1 + (index % 5));
    else if (what === 'recvAny') await this.#recv(scope, '*');
    else if (what === 'barrier') {
      const { body } = await this.#begun(scope, '/barriers', { scopeId, target: 1 });
      if (!model.isCancelled(scope)) model.barriers.push({ id: body.id, scope, state: 'OPEN' });
    } else if (what === 'make') {
      const reply = await this.#curl.post('/scopes', { scopeId });
      expect([reply.status, reply.body.state]).to.deep.equal([200, model.state(scope)]);
    } else if (what === 'recv') await this.#recv(scope, scopeId);
    else if (what === 'complete' || what === 'retry') await this.#end(what, index);
    else if (what === 'arrive') await this.#arrive(index);
    else if (what === 'cancel') await this.#cancel(scope, scopeId);
    model.tidy();
    await this.#compare();
  }

  async #begun(scope: number, path: string, body: object): Promise<Reply> {
    const reply = await this.#curl.post(path, body);
    this.#is(reply, this.#model.isCancelled(scope) ? 'SCOPE_CANCELLED' : '201');
    return reply;
  }

  async #send(scope: number, scopeId: string, delaySeconds: number): Promise<void> {
    const body = { scopeId, payload: 1, delaySeconds };
    const reply = await this.#begun(scope, `/mailboxes/${this.#mailboxId}/messages`, body);
    const model = this.#model;
    if (model.isCancelled(scope)) return;
    const item: Item = { id: reply.body.id, scope, state: 'DELAYED', token: '', since: this.#now, leaseEndsAt: 0 };
    model.items.push(item);
    if (delaySeconds > 0) item.since += 1000 * delaySeconds;
    else model.ready(item, this.#now);
  }

  /** Receives from a subtree, or across all runs in turn. */
  async #recv(scope: number, scopeId: string): Promise<void> {
    const body = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 5 };
    const reply = await this.#curl.post(`/mailboxes/${this.#mailboxId}/recv`, body);
    const model = this.#model;
    if (model.items.some(({ state, since }) => state === 'DELAYED' && since <= this.#now)) met.add('delayed');
    model.ripen(this.#now);
    const possible = scopeId === '*' ? model.nextOfAll() : [model.next(scope)];
    const item = possible.find((one) => one?.id === reply.body?.id);
    this.#is(reply, possible[0] ? '200' : '204');
    if (!possible[0]) return;
    if (!item) throw new Error(`got ${reply.body.id}, and not one of ${possible.map((one) => one?.id)}`);
    if (scopeId === '*') {
      if (new Set(model.items.filter(({ state }) => state === 'READY').map((one) => one.scope === 3)).size > 1)
        met.add('turn');
      model.served(item);
    }
    Object.assign(item, { state: 'CLAIMED', token: reply.body.token, leaseEndsAt: this.#now + 5000 });
    this.#claims.push({ item, token: reply.body.token });
  }

  async #end(what: 'complete' | 'retry', index: number): Promise<void> {
    const claim = this.#claims[this.#claims.length - 1 - (index % Math.max(1, this.#claims.length))];
    if (!claim) return;
    const { item, token } = claim;
    const isMine = item.state === 'CLAIMED' && item.token === token;
    const isSame = what === 'complete' && item.state === 'ACKED' && item.token === token;
    const path = `/messages/${item.id}/${what === 'retry' ? 'nack' : what}`;
    const reply = await this.#curl.post(path, { token, ...(what === 'retry' && { retry: true }) });
    this.#is(reply, isMine || isSame ? '200' : 'CLAIM_LOST');
    if (!isMine) return;
    if (what === 'complete') item.state = 'ACKED';
    else if (reply.body.state === 'FAILED') this.#model.items.splice(this.#model.items.indexOf(item), 1);
    else this.#model.ready(item, this.#now);
  }

  async #arrive(index: number): Promise<void> {
    const { barriers } = this.#model;
    const barrier = barriers[index % Math.max(1, barriers.length)];
    if (!barrier) return;
    const reply = await this.#curl.post(`/barriers/${barrier.id}/arrive`, { arrivalKey: `a${this.#now}` });
    this.#is(reply, barrier.state === 'OPEN' ? '200' : `BARRIER_${barrier.state}`);
    if (barrier.state === 'OPEN') barrier.state = 'RELEASED';
  }

  async #cancel(scope: number, scopeId: string): Promise<void> {
    const model = this.#model;
    if (model.cancels.has(scope)) met.add('again');
    else if (model.isCancelled(scope)) met.add('below');
    model.cancel(scope);
    const reply = await this.#curl.post(`/scopes/${scopeId}/cancel`);
    this.#is(reply, '200');
    const ended = model.cancels.get(scope) ?? { messages: 0, barriers: 0 };
    expect(reply.body).to.deep.equal({
      ...{ scopeId, state: 'CANCELLED', activeReservations: 0, done: true },
      cancelled: { waiters: 0, holds: 0, questions: 0, groups: 0, ...ended },
    });
  }

  #is(reply: Reply, outcome: string): void {
    expect(reply.body?.error?.code ?? `${reply.status}`).to.equal(outcome);
    met.add(outcome);
  }

  async #compare(): Promise<void> {
    const { body } = await this.#curl.get('/scopes');
    const shown = new Map(body.scopes.map((one: { id: string }) => [one.id, one]));
    for (const [scope, id] of this.#ids.entries())
      expect(shown.get(id), id).to.deep.include({
        state: this.#model.state(scope),
        live: { messages: this.#model.live(scope), waiters: 0 },
      });
  }

  /** Expects one event for each scope named by a cancel, and one for each message that it ended. */
  async events(world: World): Promise<void> {
    const types = await world.eventTypes();
    const { cancels, items } = this.#model;
    expect(types.filter((type) => type === 'scope.cancelled')).to.have.length(cancels.size);
    const cancelled = items.filter(({ state }) => state === 'CANCELLED');
    expect(types.filter((type) => type === 'message.cancelled')).to.have.length(cancelled.length);
  }
}

/** Produces the outcomes that would otherwise depend on chance. */
const everywhere: Step[] = [
  { do: 'delay', scope: 2, index: 0 },
  { do: 'send', scope: 3, index: 0 },
  { do: 'send', scope: 3, index: 0 },
  { do: 'pass', scope: 0, index: 0 },
  { do: 'recvAny', scope: 0, index: 0 },
  { do: 'recvAny', scope: 0, index: 0 },
  { do: 'recvAny', scope: 0, index: 0 },
  { do: 'send', scope: 1, index: 0 },
  { do: 'barrier', scope: 2, index: 0 },
  { do: 'recv', scope: 0, index: 0 },
  { do: 'cancel', scope: 1, index: 0 },
  { do: 'complete', scope: 0, index: 0 },
  { do: 'arrive', scope: 0, index: 0 },
  { do: 'cancel', scope: 2, index: 0 },
  { do: 'cancel', scope: 1, index: 0 },
  { do: 'send', scope: 2, index: 0 },
];

describe('scope model', () => {
  it('never delivers anything of a cancelled run, and leaves everything else alone, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{ first: fc.constant(null), step, maxLength: 60, outcomes, met },
      examples: [[null, everywhere]],
      run: async (curl, world, now, _first, sequence) => {
        const { body } = await curl.post('/mailboxes', { name: 'jobs' });
        const pair = new Pair(curl, body.id, now);
        await pair.begin();
        for (const one of sequence) await pair.take(one);
        await pair.events(world);
      },
    });
  });
});
