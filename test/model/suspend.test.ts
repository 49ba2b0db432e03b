import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { expectAgreement } from '../support/agree.ts';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { trySequences } from './sequences.ts';
import { type Condition, type ModelMessage, type ModelSuspension, maxAttempts, SuspendModel } from './suspend.model.ts';

const scopes = 3;
const index = fc.nat(9);
const scope = fc.nat(scopes - 1);
const isToken = fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, fc.constant(false));
/** Odd, while leases and pauses are even. */
const odd = fc.constantFrom<number>(5, 7, 15, 31);
const suspending = fc.record({
  ...{ do: fc.constant('suspend' as const), index, isToken, any: fc.boolean(), fails: fc.boolean() },
  messages: fc.array(index, { maxLength: 2 }),
  runs: fc.array(scope, { maxLength: 1 }),
  /** Of a note: its scope, and whether the version is the present one. */
  note: fc.option(fc.record({ scope, isNow: fc.boolean() }), { nil: undefined }),
  sleep: fc.option(odd, { nil: undefined }),
  timeout: fc.option(odd, { nil: undefined }),
});
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('send' as const), scope }) },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('recv' as const), scope }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('complete' as const), index, isToken }) },
  { weight: 8, arbitrary: suspending },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), index }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('put' as const), scope }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), scope }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), half: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
type Suspend = Extract<Step, { do: 'suspend' }>;

const suspend = (index: number, more: Partial<Suspend>): Step => ({
  ...{ do: 'suspend' as const, index, isToken: true, any: false, fails: false, messages: [], runs: [] },
  ...{ note: undefined, sleep: undefined, timeout: undefined },
  ...more,
});
const [send, other, recv, pass]: Step[] = [
  { do: 'send', scope: 0 },
  { do: 'send', scope: 1 },
  { do: 'recv', scope: 0 },
  { do: 'pass', half: 3 },
];
/** These produce every outcome, so that none depends on chance. */
const conditions = [
  ...[send, other, recv, suspend(0, { messages: [0] }), suspend(0, { isToken: false, sleep: 5 })],
  ...[
    suspend(0, { messages: [1], sleep: 5 }),
    recv,
    { do: 'recv', scope: 1 },
    { do: 'complete', index: 1, isToken: true },
  ],
  ...[pass, recv, suspend(0, { runs: [1] }), { do: 'put', scope: 0 }, { do: 'delete', scope: 0 }],
  ...[
    { do: 'delete', scope: 0 },
    { do: 'cancel', index: 1 },
    { do: 'cancel', index: 0 },
  ],
] as Step[];
const timeouts = [
  ...[send, other, recv, suspend(0, { messages: [1], timeout: 5 }), pass, recv, suspend(0, { runs: [1], timeout: 5 })],
  ...[pass, recv, suspend(0, { note: { scope: 2, isNow: true }, timeout: 5, fails: true }), pass],
  ...[
    { do: 'cancel' as const, index: 0 },
    { do: 'cancel' as const, index: 1 },
    { do: 'delete' as const, scope: 0 },
  ],
] as Step[];

const outcomes = ['200', '201', '204', 'CLAIM_LOST', 'VALIDATION_FAILED', 'MESSAGE_FINISHED', 'NOTE_NOT_FOUND'].concat([
  ...['READY', 'CLAIMED', 'BLOCKED', 'ACKED', 'FAILED', 'CANCELLED'],
  ...['MESSAGE', 'SCOPE', 'NOTE', 'TIME', 'CONDITION', 'TIMEOUT'],
]);
const met = new Set<string>();
const outcomeOf = (reply: Reply): string => reply.body?.error?.code ?? `${reply.status}`;

/** A mailbox of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model: SuspendModel;
  readonly #mailboxId: string;
  readonly #scopeIds = Array.from({ length: scopes }, () => randomUUID());
  readonly #messages: { readonly id: string; token: string }[] = [];

  constructor(curl: Curl, model: SuspendModel, mailboxId: string) {
    this.#curl = curl;
    this.#model = model;
    this.#mailboxId = mailboxId;
  }

  async take(one: Step): Promise<void> {
    if (one.do === 'again') await this.#curl.again(one.index, '/suspend');
    if (one.do === 'send') {
      const body = { scopeId: this.#scopeIds[one.scope], payload: 1 };
      const reply = await this.#expect(`/mailboxes/${this.#mailboxId}/messages`, body, '201');
      this.#messages.push({ id: reply.body.id, token: 'none' });
      this.#model.send(one.scope);
    }
    if (one.do === 'recv') await this.#recv(one.scope);
    if (one.do === 'pass') {
      this.#model.pass(2 * one.half);
      await this.#curl.at(this.#model.now * 1000);
      // A call makes what is due take effect.
      await this.#curl.post(`/questions/${randomUUID()}/withdraw`);
    }
    if (one.do === 'put' || one.do === 'delete') await this.#note(one.do, one.scope);
    if (one.do === 'complete' || one.do === 'suspend' || one.do === 'cancel') await this.#onMessage(one);
    await this.#compare();
  }

  async #recv(at: number): Promise<void> {
    const body = { scopeId: this.#scopeIds[at], holder: 'h', holderSession: 's', leaseSeconds: 6 };
    const isAny = this.#model.messages.some(({ scope, state }) => scope === at && state === 'READY');
    const reply = await this.#expect(`/mailboxes/${this.#mailboxId}/recv`, body, isAny ? '200' : '204');
    if (!isAny) return;
    const found = this.#messages.findIndex(({ id }) => id === reply.body.id);
    const message = this.#model.messages[found] as ModelMessage;
    expect(this.#model.claim(message, 6), 'was READY').to.equal(true);
    (this.#messages[found] as { token: string }).token = reply.body.token;
    expect(reply.body.suspension?.wokenBy ?? null).to.equal(message.suspension?.wokenBy ?? null);
  }

  async #note(what: 'put' | 'delete', at: number): Promise<void> {
    const path = `/scopes/${this.#scopeIds[at]}/notes/n`;
    if (what === 'put') {
      this.#model.putNote(at);
      const reply = await this.#curl.call('PUT', path, { value: 1 });
      expect(reply.body.version).to.equal(this.#model.version(at));
    } else {
      const outcome = this.#model.deleteNote(at);
      expect(outcomeOf(await this.#curl.call('DELETE', path))).to.equal(outcome);
      met.add(outcome);
    }
  }

  async #onMessage(one: Extract<Step, { do: 'complete' | 'suspend' | 'cancel' }>): Promise<void> {
    if (this.#messages.length === 0) return;
    const at = one.index % this.#messages.length;
    const message = this.#model.messages[at] as ModelMessage;
    const { id = '', token: known = '' } = this.#messages[at] ?? {};
    const path = `/messages/${id}/${one.do}`;
    if (one.do === 'cancel') {
      await this.#expect(path, undefined, this.#model.cancel(message));
      return;
    }
    const token = one.isToken ? known : 'another';
    if (one.do === 'complete') {
      const isSame = message.state === 'ACKED' && one.isToken;
      await this.#expect(path, { token }, isSame ? '200' : this.#model.complete(message, one.isToken));
    } else await this.#suspend(path, token, message, one);
  }

  async #suspend(path: string, token: string, message: ModelMessage, one: Suspend): Promise<void> {
    const named = [...new Set(one.messages.map((at) => at % this.#messages.length))];
    // A scope that was never used is another test's.
    const used = one.runs.filter((at) => this.#model.messages.some(({ scope }) => scope === at));
    const isNothing = named.length + used.length === 0 && one.note === undefined;
    const sleep = one.sleep ?? (isNothing ? 5 : undefined);
    const version = one.note && (one.note.isNow ? this.#model.version(one.note.scope) : 99);
    const conditions: Condition[] = [
      ...named.map((at) => ({ kind: 'MESSAGE' as const, at, sinceVersion: 0, state: null })),
      ...used.map((at) => ({ kind: 'SCOPE' as const, at, sinceVersion: 0, state: null })),
      ...(one.note ? [{ kind: 'NOTE' as const, at: one.note.scope, sinceVersion: version ?? 0, state: null }] : []),
    ];
    const suspension: ModelSuspension = {
      ...{ conditions, any: one.any, fails: one.fails, wokenBy: null },
      until: sleep === undefined ? undefined : this.#model.now + sleep,
      timeoutAt: this.#model.now + (one.timeout ?? 1001),
    };
    const body = {
      ...{ token, any: one.any, onTimeout: one.fails ? 'FAIL' : 'RETURN', timeoutSeconds: one.timeout ?? 1001 },
      ...(named.length + used.length > 0 && {
        after: [
          ...named.map((at) => ({ messageId: this.#messages[at]?.id })),
          ...used.map((at) => ({ scopeId: this.#scopeIds[at] })),
        ],
      }),
      ...(one.note && { note: { scopeId: this.#scopeIds[one.note.scope], key: 'n', sinceVersion: version } }),
      ...(sleep !== undefined && { delaySeconds: sleep }),
    };
    const reply = await this.#expect(path, body, this.#model.suspend(message, one.isToken, suspension));
    if (reply.status === 201) expect(reply.body.state).to.equal(message.state);
  }

  async #expect(path: string, body: object | undefined, outcome: string): Promise<Reply> {
    const reply = await this.#curl.post(path, body);
    expect(outcomeOf(reply), path).to.equal(outcome);
    met.add(outcome);
    return reply;
  }

  async #compare(): Promise<void> {
    for (const [at, message] of this.#model.messages.entries()) {
      const { body } = await this.#curl.get(`/messages/${this.#messages[at]?.id}`);
      const { state, attempts, suspension } = message;
      expect({ state: body.state, attempts: body.attempts }).to.deep.equal({ state, attempts });
      met.add(state);
      expect(body.suspension?.wokenBy ?? null).to.equal(suspension?.wokenBy ?? null);
      if (suspension?.wokenBy) met.add(suspension.wokenBy);
      const kinds = state === 'BLOCKED' && suspension ? this.#open(suspension) : [];
      expect(body.blockedBy.map(({ kind, id }: { kind: string; id: string | null }) => `${kind} ${id}`)).to.deep.equal(
        kinds,
      );
      for (const kind of kinds) met.add(kind.split(' ', 1)[0] ?? '');
    }
  }

  #open(suspension: ModelSuspension): string[] {
    const idOf = ({ kind, at }: Condition) => (kind === 'MESSAGE' ? this.#messages[at]?.id : this.#scopeIds[at]);
    const open = suspension.conditions.filter(({ state }) => state === null);
    const sleeps = this.#model.isSleeping(suspension) ? ['TIME null'] : [];
    return [...open.map((one) => `${one.kind} ${idOf(one)}`), ...sleeps];
  }
}

describe('Suspended messages against their model', function () {
  this.timeout(longMs);

  it('wait, wake and end as the model says, whatever happens in whatever order', () =>
    trySequences<null, Step>({
      ...{
        first: fc.constant(null),
        step,
        maxLength: 20,
        examples: [
          [null, timeouts],
          [null, conditions],
        ],
        outcomes,
        met,
      },
      run: async (curl, world: World, now, _first, sequence) => {
        const model = new SuspendModel(scopes);
        model.now = now / 1000;
        const { id } = await world.mustPost('/mailboxes', { name: 'm', maxAttempts });
        const pair = new Pair(curl, model, id);
        for (const one of sequence) await pair.take(one);
        await expectAgreement(world);
      },
    }));
});
