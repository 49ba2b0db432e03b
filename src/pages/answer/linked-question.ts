import { execute } from '../../engine/call/executor.ts';
import { type Answered, type Fields, text } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { callArgs } from '../../engine/route/args.ts';
import { linkHolder } from '../../engine/route/link.ts';
import type { CallService } from '../../engine/route/service.ts';
import { choiceOf } from '../../primitives/question/answer.ts';
import { Question } from '../../primitives/question/records.ts';

const name = () => text().orNull();
const view = {
  script: 'question/viewLinked',
  reply: { question: one(Question), mailboxName: name(), scopeName: name() },
};
const give = { script: 'question/answerLinked', reply: { question: one(Question) } };

/** A question as shown to the holder of a link. */
export type Linked = Answered<typeof view.reply>;

/** Somebody with a link. It takes the place of a call's API key: the scripts check it and count the call. */
export class LinkedQuestion {
  readonly #service: CallService;
  readonly #org: string;
  readonly #args: Readonly<Record<string, string>>;

  private constructor(
    service: CallService,
    { org, apiKeyDigest }: { org: string; apiKeyDigest: string },
    requestId: string,
  ) {
    this.#service = service;
    this.#org = org;
    this.#args = { ...callArgs, apiKeyDigest, rateClass: 'recovery', requestId };
  }

  static with(token: string, service: CallService, requestId: string): LinkedQuestion | undefined {
    const holder = linkHolder(token);
    return holder && new LinkedQuestion(service, holder, requestId);
  }

  /** The question, and the store's time. Throws INVALID_API_KEY for an unknown link. */
  async view(): Promise<{ readonly linked: Linked; readonly now: number }> {
    const { head, reply } = await this.#run(view, 'question.view', {});
    return { linked: reply, now: head.now };
  }

  /** Answers the question with a text. Throws the script's refusals. */
  async answer(answer: string, answeredBy: string): Promise<typeof Question.type> {
    const json = JSON.stringify(answer);
    const given = { answer: json, choice: choiceOf(json), answeredBy };
    return (await this.#run(give, 'question.answer', given)).reply.question;
  }

  async #run<R extends Fields>(
    call: { script: string; reply: R },
    callName: string,
    args: Readonly<Record<string, string>>,
  ) {
    const read = this.#service.scripts.reader(call) as Parameters<typeof execute>[4];
    const caller = { org: this.#org };
    const all = { ...this.#args, callName, ...args };
    const { head, reply } = await execute(this.#service, { caller }, call.script, all, read);
    return { head, reply: reply as Answered<R> };
  }
}
