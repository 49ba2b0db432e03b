import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import type { World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { type Note, NotesModel } from './note.model.ts';
import { trySequences } from './sequences.ts';

const keys = ['a', 'a/1', 'a/*', 'b'];
const key = fc.constantFrom(...keys);
/** Of the version that the note has; null: none is given. */
const ifVersion = fc.option(fc.constantFrom(0, 0, 0, -1, 1), { freq: 2 });
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      key,
      // JSON has no -0.
      value: fc.jsonValue({ maxDepth: 1 }).map((value) => JSON.parse(JSON.stringify(value))),
      ifVersion,
      fence: fc.constantFrom('none', 'none', 'last', 'before'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), key, ifVersion }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('view' as const), key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('claim' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 12_000 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const outcomes = ['200', '201', '204', 'CLAIM_LOST', 'SCOPE_CANCELLED', 'VERSION_CONFLICT', 'NOTE_NOT_FOUND'];
/** The outcomes that the sequences have produced so far. */
const met = new Set<string>();
const leaseSeconds = 10;
const put = { do: 'put', key: 'a', value: 1, ifVersion: null, fence: 'none' } as const;
const drop = { do: 'delete', key: 'a', ifVersion: null } as const;
/** Every outcome; the last three steps are in a cancelled run. */
const everything: Step[] = [
  ...[put, put, { ...put, ifVersion: 1 as const }, { ...put, fence: 'last' as const }],
  ...[drop, drop, { do: 'view' as const, key: 'a' }],
  ...[put, put, drop],
];

/** The notes of a run of the service, and a message in it, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model = new NotesModel();
  readonly #scopeId = randomUUID();
  readonly #tokens: string[] = [];
  #mailboxId = '';
  #messageId = '';
  #now: number;

  constructor(curl: Curl, now: number) {
    this.#curl = curl;
    this.#now = now;
  }

  async begin(): Promise<void> {
    this.#mailboxId = (await this.#curl.post('/mailboxes', { name: 'm', maxAttempts: 100 })).body.id;
    const message = { scopeId: this.#scopeId, payload: 1 };
    this.#messageId = (await this.#curl.post(`/mailboxes/${this.#mailboxId}/messages`, message)).body.id;
  }

  async take(step: Step): Promise<void> {
    this.#now += step.do === 'pass' ? step.ms : 1;
    await this.#curl.at(this.#now);
    if (step.do === 'put') await this.#put(step);
    if (step.do === 'delete') {
      const version = this.#version(step.key, step.ifVersion);
      const query = version === null ? '' : `?ifVersion=${version}`;
      const reply = await this.#curl.call('DELETE', this.#path(step.key) + query);
      this.#check(reply, this.#model.delete(step.key, version));
    }
    if (step.do === 'view') await this.#view(step.key);
    if (step.do === 'claim') await this.#claim();
    if (step.do === 'again') await this.#curl.again(step.index, '/notes/');
  }

  async cancel(): Promise<void> {
    await this.#curl.post(`/scopes/${this.#scopeId}/cancel`);
    this.#model.isCancelled = true;
  }

  async look(world: World): Promise<void> {
    for (const key of keys) await this.#view(key);
    for (const prefix of ['', 'a', 'a/', 'a/*', 'x']) {
      const { body } = await this.#curl.get(
        `/scopes/${this.#scopeId}/notes?values=true&prefix=${encodeURIComponent(prefix)}`,
      );
      expect(body.notes).to.deep.equal(this.#model.list(prefix).map(([key, note]) => this.#record(key, note)));
    }
    const types = await world.eventTypes();
    const countOf = (type: string): number => types.filter((one) => one === type).length;
    expect([countOf('note.put'), countOf('note.deleted')]).to.deep.equal([this.#model.puts, this.#model.deletions]);
  }

  async #put({ key, value, ifVersion, fence }: Extract<Step, { do: 'put' }>): Promise<void> {
    const version = this.#version(key, ifVersion);
    const token = fence === 'none' ? null : (this.#tokens.at(fence === 'last' ? -1 : -2) ?? 'none');
    const fenced = token === null ? {} : { messageId: this.#messageId, token };
    const reply = await this.#curl.call('PUT', this.#path(key), { value, ifVersion: version, ...fenced });
    const outcome = this.#model.put(key, value, version, token, this.#now);
    this.#check(reply, outcome);
    const note = this.#model.notes.get(key);
    if (!note || reply.status >= 300) return;
    const { value: _, ...shown } = this.#record(key, note);
    expect(reply.body).to.deep.equal(shown);
  }

  async #view(key: string): Promise<void> {
    const { status, body } = await this.#curl.get(this.#path(key));
    const note = this.#model.notes.get(key);
    if (note) expect(body).to.deep.equal(this.#record(key, note));
    else expect([status, body.error.code]).to.deep.equal([404, 'NOTE_NOT_FOUND']);
  }

  async #claim(): Promise<void> {
    const holder = `h${this.#tokens.length}`;
    const asked = { scopeId: this.#scopeId, holder, holderSession: 's', leaseSeconds };
    const { status, body } = await this.#curl.post(`/mailboxes/${this.#mailboxId}/recv`, asked);
    const isFree = !this.#model.isCancelled && !this.#model.isClaimed(this.#now);
    expect(status).to.equal(isFree ? 200 : 204);
    if (!isFree) return;
    this.#tokens.push(body.token);
    this.#model.claim({ token: body.token, holder, endsAt: this.#now + leaseSeconds * 1000 });
  }

  #version(key: string, beside: number | null): number | null {
    return beside === null ? null : Math.max(0, (this.#model.notes.get(key)?.version ?? 0) + beside);
  }

  #check(reply: { status: number; body: { error?: { code: string } } | undefined }, outcome: string): void {
    expect(reply.body?.error?.code ?? `${reply.status}`).to.equal(outcome);
    met.add(outcome);
  }

  #path(key: string): string {
    return `/scopes/${this.#scopeId}/notes/${encodeURIComponent(key)}`;
  }

  #record(key: string, { createdAt, updatedAt, ...note }: Note) {
    const [created, updated] = [createdAt, updatedAt].map((at) => new Date(at).toISOString());
    return { scopeId: this.#scopeId, key, ...note, createdAt: created, updatedAt: updated };
  }
}

describe('note model', () => {
  it('puts only at the version and under the claim that are asked for, in any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{ first: fc.nat(3), step, maxLength: 60, examples: [[0, everything] as [number, Step[]]], outcomes, met },
      run: async (curl, world, now, cancelsAt, sequence) => {
        const pair = new Pair(curl, now);
        await pair.begin();
        // The last steps of every fourth sequence are in a cancelled run.
        const end = cancelsAt === 0 ? Math.floor(sequence.length * 0.7) : sequence.length;
        for (const one of sequence.slice(0, end)) await pair.take(one);
        if (cancelsAt === 0) await pair.cancel();
        for (const one of sequence.slice(end)) await pair.take(one);
        await pair.look(world);
      },
    });
  });
});
