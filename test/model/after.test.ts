import { expect } from 'chai';
import fc from 'fast-check';
import { expectAgreement } from '../support/agree.ts';
import { longMs } from '../support/long.ts';
import { workOff } from '../support/work-off.ts';
import type { World } from '../support/world.ts';
import { AfterModel, type Item, policies } from './after.model.ts';
import type { Curl } from './curl.ts';
import { trySequences } from './sequences.ts';

const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const index = fc.nat(30);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      after: fc.array(index, { maxLength: 4 }),
      policy: fc.constantFrom(...policies),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('recv' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('complete' as const), index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refuse' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('requeue' as const), index }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const met = new Set<string>();
const outcomes = ['BLOCKED', 'READY', 'PREREQUISITE_FAILED', 'cancelled', 'freed', '200', 'MESSAGE_NOT_REQUEUABLE'];

/** Messages of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #world: World;
  readonly #model = new AfterModel();
  readonly #mailboxId: string;
  #now: number;

  constructor(curl: Curl, world: World, mailboxId: string, now: number) {
    this.#curl = curl;
    this.#world = world;
    this.#mailboxId = mailboxId;
    this.#now = now;
  }

  async take(one: Step): Promise<void> {
    await this.#curl.at(++this.#now);
    const { items } = this.#model;
    const pick = (list: readonly Item[], at: number): Item | undefined => list[at % Math.max(1, list.length)];
    if (one.do === 'send') {
      const after = [...new Set(one.after.flatMap((at) => pick(items, at) ?? []))];
      await this.#send(after, one.policy);
    } else if (one.do === 'recv') await this.#recv();
    else {
      const claimed = items.filter(({ state }) => state === 'CLAIMED');
      const item = pick(one.do === 'complete' || one.do === 'refuse' ? claimed : items, one.index);
      if (item) await this.#act(one.do, item);
    }
    await this.#compare();
  }

  async #send(after: readonly Item[], policy: Item['policy']): Promise<void> {
    const named = after.map(({ id }) => ({ messageId: id }));
    const body = { scopeId, payload: 1, ...(after.length > 0 && { after: named, onFailure: policy }) };
    const reply = await this.#curl.post(`/mailboxes/${this.#mailboxId}/messages`, body);
    const open = this.#model.judge(after, policy);
    met.add(reply.body.state ?? reply.body.error.code);
    if (!open) {
      expect(reply.body.error?.code).to.equal('PREREQUISITE_FAILED');
      return;
    }
    expect(reply.body.state).to.equal(open.size > 0 ? 'BLOCKED' : 'READY');
    this.#model.add(reply.body.id, after, policy, open, this.#now);
  }

  async #recv(): Promise<void> {
    const body = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 600 };
    const reply = await this.#curl.post(`/mailboxes/${this.#mailboxId}/recv`, body);
    const next = this.#model.next();
    expect(reply.status).to.equal(next.length > 0 ? 200 : 204);
    if (next.length === 0) return;
    const item = next.find(({ id }) => id === reply.body.id);
    expect(item, 'received').to.not.equal(undefined);
    Object.assign(item as Item, { state: 'CLAIMED', token: reply.body.token });
  }

  async #act(what: 'complete' | 'refuse' | 'cancel' | 'requeue', item: Item): Promise<void> {
    const before = this.#model.items.filter(({ state }) => state === 'BLOCKED').length;
    if (what === 'requeue') {
      const reply = await this.#curl.post(`/messages/${item.id}/requeue`);
      const outcome = this.#model.requeue(item, this.#now);
      met.add(outcome);
      expect(reply.body.error?.code ?? '200').to.equal(outcome);
      return;
    }
    const path = `/messages/${item.id}/${what === 'refuse' ? 'nack' : what}`;
    const body = what === 'cancel' ? undefined : { token: item.token, ...(what === 'refuse' && { retry: false }) };
    const reply = await this.#curl.post(path, body);
    if (what === 'cancel' && ['ACKED', 'REJECTED', 'CANCELLED'].includes(item.state)) {
      expect(reply.status).to.equal(item.state === 'CANCELLED' ? 200 : 409);
      return;
    }
    expect(reply.status).to.equal(200);
    const [state, reason] = {
      complete: ['ACKED', null] as const,
      refuse: ['REJECTED', 'REJECTED_BY_WORKER'] as const,
      cancel: ['CANCELLED', 'CANCELLED_BY_CALLER'] as const,
    }[what];
    this.#model.end(item, state, reason, this.#now);
    const after = this.#model.items.filter((one) => one.state === 'BLOCKED').length;
    if (after < before)
      met.add(this.#model.items.some((one) => one.reason === 'PREREQUISITE_FAILED') ? 'cancelled' : 'freed');
  }

  async #compare(): Promise<void> {
    const { body } = await this.#curl.get(`/mailboxes/${this.#mailboxId}/messages?limit=200`);
    const shown = body.messages.map((one: Record<string, unknown>) => [one['id'], one['state'], one['reason']]);
    const expected = this.#model.items.map(({ id, state, reason }) => [id, state, reason]);
    expect(shown).to.deep.equal(expected);
    for (const [i, { open, after, state }] of this.#model.items.entries()) {
      const waitsFor = body.messages[i].blockedBy.map((one: { id: string }) => one.id);
      const wanted = state === 'BLOCKED' ? after.filter((one) => open.has(one)).map(({ id }) => id) : [];
      expect(waitsFor, 'blockedBy').to.deep.equal(wanted);
    }
  }

  async end(): Promise<void> {
    await workOff(this.#world);
    await expectAgreement(this.#world);
  }
}

describe('model of messages after others', () => {
  it('frees and cancels exactly those that an end decides about, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences<null, Step>({
      ...{ first: fc.constant(null), step, maxLength: 60, outcomes, met },
      run: async (curl, world, now, _none, sequence) => {
        const { id: mailboxId } = (await curl.post('/mailboxes', { name: 'm' })).body;
        const pair = new Pair(curl, world, mailboxId, now);
        for (const one of sequence) await pair.take(one);
        await pair.end();
      },
    });
  });
});
