import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { ScheduleModel, type Timing } from './schedule.model.ts';
import { trySequences } from './sequences.ts';

const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const timing: fc.Arbitrary<Timing> = fc.oneof(
  fc.constantFrom(5, 60, 90, 600).map((everySeconds) => ({ everySeconds })),
  fc.constantFrom(1, 2, 15).map((minutes) => ({ minutes })),
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('fire' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 300_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: -300_000, max: -1 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('PAUSED' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ACTIVE' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('time' as const), timing }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trigger' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index: fc.nat(9) }) },
);
const last = fc.record({ do: fc.constant('end' as const) });
type Step = typeof step extends fc.Arbitrary<infer T> ? T | { readonly do: 'end' } : never;

const outcomes = ['200', 'SCHEDULE_ENDED'];
const met = new Set<string>();

const bodyOf = (asked: Timing): object =>
  'minutes' in asked ? { cron: `*/${asked.minutes} * * * *` } : { everySeconds: asked.everySeconds };
const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** A schedule of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #world: World;
  readonly #model: ScheduleModel;
  readonly #id: string;
  readonly #mailboxId: string;
  #now: number;

  constructor(curl: Curl, world: World, model: ScheduleModel, ids: { id: string; mailboxId: string }, now: number) {
    this.#curl = curl;
    this.#world = world;
    this.#model = model;
    this.#id = ids.id;
    this.#mailboxId = ids.mailboxId;
    this.#now = now;
  }

  async take(step: Step): Promise<void> {
    this.#now += step.do === 'pass' ? step.ms : 1;
    await this.#curl.at(this.#now);
    const model = this.#model;
    if (step.do === 'fire') {
      // Two workers at the same time.
      await Promise.all([1, 2].map(() => this.#world.service.schedules.drain(this.#world.org)));
      model.fire(this.#now);
    }
    if (step.do === 'PAUSED' || step.do === 'ACTIVE') await this.#patch({ state: step.do }, { state: step.do });
    if (step.do === 'time') await this.#patch(bodyOf(step.timing), { timing: step.timing });
    if (step.do === 'trigger') {
      const { body, status } = await this.#curl.post(`/schedules/${this.#id}/trigger`);
      this.#check(body.error?.code ?? `${status}`, model.trigger(this.#now));
    }
    if (step.do === 'end') {
      await this.#curl.post(`/scopes/${scopeId}/cancel`);
      model.end();
    }
    if (step.do === 'again') await this.#curl.again(step.index);
    await this.#agree();
  }

  async #patch(body: object, asked: Parameters<ScheduleModel['change']>[1]): Promise<void> {
    const reply = await this.#curl.call('PATCH', `/schedules/${this.#id}`, body);
    this.#check(reply.body.error?.code ?? `${reply.status}`, this.#model.change(this.#now, asked));
  }

  #check(outcome: string, expected: string): void {
    expect(outcome).to.equal(expected);
    met.add(outcome);
  }

  /** Expects the model's record, and one message for each of its moments. */
  async #agree(): Promise<void> {
    const { state, nextAt, lastAt, missed, sent, triggers } = this.#model;
    const { body } = await this.#curl.get(`/schedules/${this.#id}`);
    expect(body).to.include({ state, nextAt: iso(nextAt), lastAt: iso(lastAt), missed });
    const keys: (string | null)[] = [];
    for (let cursor = ''; ; ) {
      const page = await this.#world.get(`/mailboxes/${this.#mailboxId}/messages?limit=200${cursor}`);
      keys.push(...page.body.messages.map(({ workKey }: { workKey: string | null }) => workKey));
      if (page.body.nextCursor === null) break;
      cursor = `&cursor=${page.body.nextCursor}`;
    }
    expect(keys.filter((key) => key === null)).to.have.length(triggers);
    const moments = [...sent].map((at) => `schedule:${this.#id}:${iso(at)}`);
    expect(keys.filter((key) => key !== null)).to.have.members(moments);
  }
}

describe('schedule model', () => {
  it('sends once for each moment, and counts missed ones, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences<Timing, Step>({
      ...{ first: timing, step: fc.oneof({ weight: 40, arbitrary: step }, { weight: 1, arbitrary: last }) },
      ...{ maxLength: 60, outcomes, met },
      examples: [[{ everySeconds: 60 }, [{ do: 'end' }, { do: 'trigger' }, { do: 'ACTIVE' }, { do: 'fire' }]]],
      run: async (curl, world, now, first, sequence) => {
        const { id: mailboxId } = (await curl.post('/mailboxes', { name: 'm', backlogLimit: 100_000 })).body;
        const fields = { name: 's', mailboxId, scopeId, payload: 1, ...bodyOf(first) };
        const { id } = (await curl.post('/schedules', fields)).body;
        const pair = new Pair(curl, world, new ScheduleModel(first, now), { id, mailboxId }, now);
        for (const one of sequence) await pair.take(one);
      },
    });
  });
});
