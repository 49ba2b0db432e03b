import type { Answer, Args } from '../types.ts';

/** How a question is asked. */
export type AskOptions = Pick<Args<'message.ask'>, 'options' | 'expiresInSeconds' | 'onExpiry'>;

/** A question with the address of the page on which a person answers it. */
export type AskedQuestion = Answer<'message.ask'>['question'];

/** What became of the last question of a message. */
export interface GivenAnswer<Value = unknown> {
  /** The question, as it was asked. */
  readonly question: unknown;
  /** The answer; null where nobody has answered in time. */
  readonly value: Value;
  /** Who has answered, as they said. */
  readonly answeredBy: string | null;
  /** Nobody has answered in time. */
  readonly isExpired: boolean;
}

/** What a handler asks at the end of its attempt. */
export interface Asking extends AskOptions {
  readonly question: unknown;
}

/** Thrown by `task.ask`: the attempt ends, and the next one begins when somebody has answered. Let it pass. */
export class Asked extends Error {
  override readonly name = 'Asked';
  constructor() {
    super('the attempt ends with a question; the next one begins with the answer');
  }
}

/** The answer with which an attempt begins; null: the message has asked nothing, or its question was withdrawn. */
export function answerOf({ question: asked }: Pick<Answer<'message.view'>, 'question'>): GivenAnswer | null {
  if (!asked || (asked.state !== 'ANSWERED' && asked.state !== 'EXPIRED')) return null;
  const { question, answer, answeredBy, state } = asked;
  return { question, value: answer, answeredBy, isExpired: state === 'EXPIRED' };
}
