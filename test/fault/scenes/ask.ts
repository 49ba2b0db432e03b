import { randomUUID } from 'node:crypto';
import type { Queue } from '../workload.ts';
import { Shared } from './scene.ts';

/** Some questions expire while the clients work. */
const shortSeconds = 5;
const longSeconds = 604_800;
/** The keys of some messages: of one whose place stays while they ask, and of one whose place passes on. */
const [kept, yielded] = ['kept', 'yielded'];

interface Desk {
  readonly queue: Queue;
  /** Questions that somebody may answer, the newest last; some have been answered. */
  readonly questions: string[];
  /** Of these, the questions that no message waits for, which can be withdrawn. */
  readonly alone: string[];
}

/**
 * Messages whose workers ask, and go on when somebody has answered. Several clients answer at once, each differently;
 * the worker receives the accepted answer. Messages of one key are worked in order, questions included. Some questions are asked without a message, and some of these are withdrawn.
 */
export class AskScene extends Shared<Desk> {
  protected async make(client: number): Promise<Desk | undefined> {
    const { access, load } = this;
    const mailboxId = await this.create(client, 'mailbox', '/mailboxes', { name: 'questions', perKey: 1 });
    if (mailboxId === undefined) return undefined;
    const queue = { access, mailboxId, scopeId: randomUUID() };
    load.queues.push(queue);
    return { queue, questions: [], alone: [] };
  }

  protected async use(client: number, desk: Desk): Promise<void> {
    const { load, access } = this;
    const { mailboxId, scopeId } = desk.queue;
    const choice = load.chance.next();
    if (choice < 0.25) {
      const key = load.chance.of([undefined, undefined, kept, yielded]);
      const { body } = await load.call(client, access, {
        kind: 'post',
        object: ({ id }) => `post ${id}`,
        path: `/mailboxes/${mailboxId}/messages`,
        body: { scopeId, payload: { client }, key },
      });
      // A key that is yielded keeps no order.
      if (key === kept && body.id) load.keyed.set(body.id, `${mailboxId} ${key}`);
    } else if (choice < 0.5) await this.#work(client, desk);
    else if (choice < 0.6) await this.#alone(client, desk);
    else if (choice < 0.65) await this.#link(client, desk);
    else await this.#answer(client, desk);
  }

  async #work(client: number, { queue, questions }: Desk): Promise<void> {
    const { load, access } = this;
    const invokedAt = performance.now();
    const claim = await load.claim(client, queue);
    if (!claim) return;
    if (claim.question) load.saw(client, claim.question, invokedAt);
    const choice = load.chance.next();
    // The worker dies: the next attempt has the same answer.
    if (choice < 0.1) load.abandoned.set(`${claim.id} ${claim.attempt}`, Date.parse(claim.leaseExpiresAt));
    else if (choice < 0.4) await load.complete(client, access, claim);
    else {
      const expiresInSeconds = load.chance.next() < 0.3 ? shortSeconds : longSeconds;
      const { status, body } = await load.call(client, access, {
        kind: 'ask',
        object: ({ question }) => `question ${question.id}`,
        input: { expiresInSeconds },
        path: `/messages/${claim.id}/ask`,
        body: {
          ...{ token: claim.token, question: client, expiresInSeconds, onExpiry: load.chance.of(['RETURN', 'FAIL']) },
          yieldsKey: claim.key === yielded,
        },
        refuses: ['CLAIM_LOST'],
      });
      if (status === 201) questions.push(body.question.id);
    }
  }

  /** Asks without a message, or withdraws such a question. */
  async #alone(client: number, { queue: { scopeId }, questions, alone }: Desk): Promise<void> {
    const { load, access } = this;
    const asked = load.chance.next() < 0.4 ? alone.shift() : undefined;
    if (asked !== undefined) {
      await load.call(client, access, {
        ...{ kind: 'withdraw question', object: `question ${asked}`, path: `/questions/${asked}/withdraw`, body: {} },
        refuses: ['QUESTION_CLOSED'],
      });
      return;
    }
    const { body } = await load.call(client, access, {
      kind: 'ask',
      object: ({ id }) => `question ${id}`,
      input: { expiresInSeconds: longSeconds },
      path: '/questions',
      body: { scopeId, question: client, expiresInSeconds: longSeconds, holder: `client-${client}` },
    });
    questions.push(body.id);
    alone.push(body.id);
  }

  /** Makes another link to a question. */
  async #link(client: number, { questions }: Desk): Promise<void> {
    const id = questions.at(-1);
    if (id === undefined) return;
    await this.load.call(client, this.access, {
      ...{ kind: 'link', object: `question ${id}`, path: `/questions/${id}/link`, body: {} },
      refuses: ['QUESTION_CLOSED'],
    });
  }

  async #answer(client: number, { questions }: Desk): Promise<void> {
    const id = questions[Math.max(0, questions.length - 1 - Math.floor(this.load.chance.next() * 4))];
    if (id !== undefined) await this.load.answer(client, this.access, id);
  }
}
