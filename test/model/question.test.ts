import { expect } from 'chai';
import fc from 'fast-check';
import { expectAgreement } from '../support/agree.ts';
import { longMs } from '../support/long.ts';
import type { Reply, World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { type ModelMessage, type ModelQuestion, maxAttempts, QuestionModel } from './question.model.ts';
import { trySequences } from './sequences.ts';

const scopeId = '0190a1b2-0000-7000-8000-000000000000';
const index = fc.nat(9);
const isToken = fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, fc.constant(false));
/** Even, as the pauses: no lease ends when a question expires. */
const lease = fc.constantFrom<number>(6, 10, 20);
const seconds = fc.constantFrom<number>(5, 7, 15, 31);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('send' as const), key: fc.constantFrom('k', 'l', undefined) }),
  },
  { weight: 7, arbitrary: fc.record({ do: fc.constant('recv' as const), lease }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('complete' as const), index, isToken }) },
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ do: fc.constant('ask' as const), index, isToken, seconds },
      ...{ fails: fc.boolean(), yieldsKey: fc.boolean() },
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('create' as const), seconds }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('answer' as const), index, by: fc.constantFrom('ann', 'bob') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), half: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const send = (key?: 'k'): Step => ({ do: 'send', key });
const recv: Step = { do: 'recv', lease: 6 };
const ask = (index: number, seconds = 31, fails = false): Step => ({
  ...{ do: 'ask' as const, index, isToken: true, seconds, fails, yieldsKey: true },
});
const pass = (half: number): Step => ({ do: 'pass', half });
const answer = (index: number, by: 'ann' | 'bob' = 'ann'): Step => ({ do: 'answer', index, by });
/** Produces every outcome, so that none depends on chance. */
const everything: Step[] = [
  ...[send('k'), send('k'), send(), recv, ask(0), recv, answer(0), answer(0), answer(0, 'bob'), recv],
  ...[{ do: 'complete' as const, index: 1, isToken: true }, recv, ask(0, 5), ask(2, 5, true), pass(3), recv, pass(6)],
  ...[recv, pass(6), send(), recv, ask(3), { do: 'cancel' as const, index: 3 }, { do: 'cancel' as const, index: 3 }],
  ...[
    { do: 'cancel' as const, index: 1 },
    { do: 'create' as const, seconds: 31 },
  ],
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'withdraw' as const, index })),
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
  { do: 'ask', index: 1, isToken: false, seconds: 5, fails: false, yieldsKey: false },
];

const outcomes = ['200', '201', '204', 'CLAIM_LOST', 'QUESTION_CLOSED', 'MESSAGE_FINISHED', 'READY', 'CLAIMED'].concat([
  'BLOCKED',
  'ACKED',
  'FAILED',
  'CANCELLED',
  'KEY',
  'QUESTION',
  'OPEN',
  'ANSWERED',
  'EXPIRED',
  'WITHDRAWN',
]);
const met = new Set<string>();

const outcomeOf = (reply: Reply): string => reply.body?.error?.code ?? `${reply.status}`;

/** A mailbox of the service, compared with the model. */
class Pair {
  readonly #curl: Curl;
  readonly #model: QuestionModel;
  readonly #mailboxId: string;
  readonly #messages: { readonly id: string; token: string }[] = [];
  readonly #questionIds: string[] = [];

  constructor(curl: Curl, model: QuestionModel, mailboxId: string) {
    this.#curl = curl;
    this.#model = model;
    this.#mailboxId = mailboxId;
  }

  async take(one: Step): Promise<void> {
    if (one.do === 'again') await this.#curl.again(one.index, '/ask');
    if (one.do === 'send') await this.#send(one.key);
    if (one.do === 'recv') await this.#recv(one.lease);
    if (one.do === 'pass') await this.#pass(2 * one.half);
    if (one.do === 'create') {
      const body = { scopeId, question: 1, expiresInSeconds: one.seconds };
      this.#questionIds.push((await this.#expect('/questions', body, '201')).body.id);
      this.#model.create(one.seconds);
    }
    if (one.do === 'complete' || one.do === 'ask' || one.do === 'cancel') await this.#onMessage(one);
    if (one.do === 'answer' || one.do === 'withdraw') await this.#onQuestion(one);
    await this.#compare();
  }

  async #send(key: string | undefined): Promise<void> {
    const path = `/mailboxes/${this.#mailboxId}/messages`;
    const { body } = await this.#expect(path, { scopeId, payload: 1, ...(key !== undefined && { key }) }, '201');
    this.#messages.push({ id: body.id, token: 'none' });
    this.#model.send(key);
  }

  /** The order is another model's; what is given out was READY, and nothing is where nothing was. */
  async #recv(leaseSeconds: number): Promise<void> {
    const body = { scopeId, holder: 'h', holderSession: 's', leaseSeconds };
    const isAny = this.#model.messages.some(({ state }) => state === 'READY');
    const reply = await this.#expect(`/mailboxes/${this.#mailboxId}/recv`, body, isAny ? '200' : '204');
    if (!isAny) return;
    const at = this.#messages.findIndex(({ id }) => id === reply.body.id);
    const message = this.#model.messages[at] as ModelMessage;
    expect(this.#model.claim(message, leaseSeconds), 'was READY').to.equal(true);
    (this.#messages[at] as { token: string }).token = reply.body.token;
    this.#compareQuestion(message.question, reply.body.question);
  }

  async #onMessage(one: Extract<Step, { do: 'complete' | 'ask' | 'cancel' }>): Promise<void> {
    if (this.#messages.length === 0) return;
    const model = this.#model;
    const at = one.index % this.#messages.length;
    const message = model.messages[at] as ModelMessage;
    const { id = '', token: known = '' } = this.#messages[at] ?? {};
    const path = `/messages/${id}/${one.do}`;
    if (one.do === 'cancel') {
      await this.#expect(path, undefined, model.cancel(message));
      return;
    }
    const token = one.isToken ? known : 'another';
    if (one.do === 'complete') {
      // The same token again is answered as before.
      const isSame = message.state === 'ACKED' && one.isToken;
      await this.#expect(path, { token }, isSame ? '200' : model.complete(message, one.isToken));
      return;
    }
    const onExpiry = one.fails ? 'FAIL' : 'RETURN';
    const body = { token, question: { at }, expiresInSeconds: one.seconds, onExpiry, yieldsKey: one.yieldsKey };
    const outcome = model.ask(message, one.isToken, one.seconds, one.fails, one.yieldsKey);
    const reply = await this.#expect(path, body, outcome);
    if (reply.status === 201) this.#questionIds.push(reply.body.question.id);
  }

  async #onQuestion(one: Extract<Step, { do: 'answer' | 'withdraw' }>): Promise<void> {
    if (this.#questionIds.length === 0) return;
    const at = one.index % this.#questionIds.length;
    const question = this.#model.questions[at] as ModelQuestion;
    const path = `/questions/${this.#questionIds[at]}/${one.do}`;
    if (one.do === 'withdraw') await this.#expect(path, undefined, this.#model.withdraw(question));
    else {
      const body = { answer: 'yes', answeredBy: one.by };
      await this.#expect(path, body, this.#model.answer(question, 'yes', one.by));
    }
  }

  /** Moves the clock while no worker runs; then a call makes what is due take effect. */
  async #pass(seconds: number): Promise<void> {
    this.#model.pass(seconds);
    await this.#curl.at(this.#model.now * 1000);
    await this.#curl.post(`/questions/${scopeId}/withdraw`);
  }

  async #expect(path: string, body: unknown, outcome: string): Promise<Reply> {
    const reply = await this.#curl.post(path, body);
    expect(outcomeOf(reply), `${path} ${JSON.stringify(body)}`).to.equal(outcome);
    met.add(outcome);
    return reply;
  }

  async #compare(): Promise<void> {
    const { body } = await this.#curl.get(`/mailboxes/${this.#mailboxId}/messages?limit=200`);
    for (const [at, message] of this.#model.messages.entries()) {
      const record = body.messages[at];
      const { state, attempts, blockedBy, question } = message;
      expect(record, `message ${at}`).to.include({ id: this.#messages[at]?.id, state, attempts });
      const kinds = record.blockedBy.map(({ kind }: { kind: string }) => kind);
      expect(kinds, `message ${at}`).to.deep.equal(blockedBy === undefined ? [] : [blockedBy]);
      this.#compareQuestion(question, record.question);
      for (const one of [state, blockedBy ?? '']) met.add(one);
    }
    const found = (await this.#curl.get('/questions?limit=200')).body.questions.reverse();
    expect(found.map(({ id }: { id: string }) => id)).to.deep.equal(this.#questionIds);
    for (const [at, question] of this.#model.questions.entries()) this.#compareQuestion(question, found[at]);
  }

  #compareQuestion(question: ModelQuestion | undefined, record: Reply['body']): void {
    if (!question) expect(record).to.equal(null);
    else {
      const { state, answer, answeredBy } = question;
      expect(record).to.include({ state, answer, answeredBy });
      met.add(state);
    }
  }
}

describe('question model', () => {
  it('gives each answer to one message, once, in its turn, after every step of any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{ first: fc.constant(null), step, maxLength: 40, examples: [[null, everything]], outcomes, met },
      run: async (curl: Curl, world: World, now: number, _, sequence: Step[]) => {
        const model = new QuestionModel();
        model.now = now / 1000;
        const { body } = await curl.post('/mailboxes', { name: 'm', perKey: 1, maxAttempts });
        const pair = new Pair(curl, model, body.id);
        for (const one of sequence) await pair.take(one);
        await expectAgreement(world);
      },
    });
  });
});
