import type { Answer, Args } from '../types.ts';

/** Options of a question. */
export type AskOptions = Pick<Args<'message.ask'>, 'options' | 'expiresInSeconds' | 'onExpiry' | 'yieldsKey'>;

/** A question, with the address of the page for answering it. */
export type AskedQuestion = Answer<'message.ask'>['question'];

/** The outcome of a message's last question. */
export interface GivenAnswer<Value = unknown> {
  /** The question as asked. */
  readonly question: unknown;
  /** The answer; null if nobody answered in time. */
  readonly value: Value;
  /** The name that the answerer gave. */
  readonly answeredBy: string | null;
  /** Whether nobody answered in time. */
  readonly isExpired: boolean;
}

/** The question that a handler asks at the end of its attempt. */
export interface Asking extends AskOptions {
  readonly question: unknown;
}

/** Thrown by `task.ask`: the attempt ends, and the next one begins when somebody has answered. Don't catch it. */
export class Asked extends Error {
  override readonly name = 'Asked';
  constructor() {
    super('the attempt ends with a question; the next one begins with the answer');
  }
}

/** The answer that an attempt begins with; null if the message has asked nothing or its question was withdrawn. */
export function answerOf({ question: asked }: Pick<Answer<'message.view'>, 'question'>): GivenAnswer | null {
  if (!asked || (asked.state !== 'ANSWERED' && asked.state !== 'EXPIRED')) return null;
  const { answeredBy, state } = asked;
  // A value that cannot be read throws in the handler.
  return {
    get question() {
      return asked.question;
    },
    get value() {
      return asked.answer;
    },
    answeredBy,
    isExpired: state === 'EXPIRED',
  };
}
