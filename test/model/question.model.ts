/** A message of the model; times are in seconds. */
export interface ModelMessage {
  readonly key: string | undefined;
  state: 'READY' | 'CLAIMED' | 'BLOCKED' | 'ACKED' | 'FAILED' | 'CANCELLED';
  /** While it is BLOCKED. */
  blockedBy: 'KEY' | 'QUESTION' | undefined;
  /** While it waits for an answer: the place of its key. */
  keepsPlace: boolean;
  attempts: number;
  leaseExpiresAt: number;
  /** The last question that it has asked. */
  question: ModelQuestion | undefined;
}

export interface ModelQuestion {
  /** Undefined: asked without a message. */
  readonly message: ModelMessage | undefined;
  readonly expiresAt: number;
  readonly fails: boolean;
  state: 'OPEN' | 'ANSWERED' | 'EXPIRED' | 'WITHDRAWN';
  answer: string | null;
  answeredBy: string | null;
}

export const maxAttempts = 2;

/** How messages ask and go on, when one message of a key is worked at a time. */
export class QuestionModel {
  now = 0;
  readonly messages: ModelMessage[] = [];
  readonly questions: ModelQuestion[] = [];
  /** The messages that wait for their keys, in order. */
  readonly #waiting: ModelMessage[] = [];

  send(key: string | undefined): void {
    const message: ModelMessage = {
      ...{ key, state: 'READY', blockedBy: undefined, keepsPlace: false },
      ...{ attempts: 0, leaseExpiresAt: 0, question: undefined },
    };
    this.messages.push(message);
    this.#proceed(message);
  }

  /** Claims the message that the service has delivered. Returns whether it was READY. */
  claim(message: ModelMessage, lease: number): boolean {
    if (message.state !== 'READY') return false;
    message.state = 'CLAIMED';
    message.attempts++;
    message.leaseExpiresAt = this.now + lease;
    return true;
  }

  complete(message: ModelMessage, isToken: boolean): string {
    if (message.state !== 'CLAIMED' || !isToken) return 'CLAIM_LOST';
    this.#end(message, 'ACKED');
    return '200';
  }

  ask(message: ModelMessage, isToken: boolean, seconds: number, fails: boolean, yieldsKey: boolean): string {
    if (message.state !== 'CLAIMED' || !isToken) return 'CLAIM_LOST';
    message.attempts--;
    message.question = this.#open(message, seconds, fails);
    message.state = 'BLOCKED';
    message.blockedBy = 'QUESTION';
    message.keepsPlace = !yieldsKey;
    this.#passOn(message.key);
    return '201';
  }

  create(seconds: number): void {
    this.#open(undefined, seconds, false);
  }

  answer(question: ModelQuestion, answer: string, answeredBy: string): string {
    if (question.state === 'ANSWERED' && question.answer === answer && question.answeredBy === answeredBy) return '200';
    if (question.state !== 'OPEN') return 'QUESTION_CLOSED';
    Object.assign(question, { state: 'ANSWERED', answer, answeredBy });
    if (question.message) this.#proceed(question.message);
    return '200';
  }

  withdraw(question: ModelQuestion): string {
    if (question.state === 'WITHDRAWN') return '200';
    if (question.state !== 'OPEN' || question.message) return 'QUESTION_CLOSED';
    question.state = 'WITHDRAWN';
    return '200';
  }

  cancel(message: ModelMessage): string {
    if (message.state === 'CANCELLED') return '200';
    if (message.state === 'ACKED' || message.state === 'FAILED') return 'MESSAGE_FINISHED';
    this.#end(message, 'CANCELLED');
    return '200';
  }

  /** Everything happens at its moment: leases end at even ones, questions expire at odd ones, each in order of creation. */
  pass(seconds: number): void {
    const until = this.now + seconds;
    while (this.now < until) {
      this.now += 1;
      for (const message of this.messages)
        if (message.state === 'CLAIMED' && message.leaseExpiresAt <= this.now) {
          if (message.attempts >= maxAttempts) this.#end(message, 'FAILED');
          else message.state = 'READY';
        }
      for (const question of this.questions)
        if (question.state === 'OPEN' && question.expiresAt <= this.now) this.#expire(question);
    }
  }

  #open(message: ModelMessage | undefined, seconds: number, fails: boolean): ModelQuestion {
    const question: ModelQuestion = {
      ...{ message, expiresAt: this.now + seconds, fails, state: 'OPEN', answer: null, answeredBy: null },
    };
    this.questions.push(question);
    return question;
  }

  #expire(question: ModelQuestion): void {
    question.state = 'EXPIRED';
    if (question.message && question.fails) this.#end(question.message, 'FAILED');
    else if (question.message) this.#proceed(question.message);
  }

  #isTaken(key: string): boolean {
    return this.messages.some(
      (one) => one.key === key && (one.state === 'READY' || one.state === 'CLAIMED' || one.keepsPlace),
    );
  }

  /** Continues with a message that only its key can still hold up. */
  #proceed(message: ModelMessage): void {
    const { key } = message;
    // It must not count as the active message of its key itself.
    message.state = 'BLOCKED';
    const isNext = message.keepsPlace;
    message.keepsPlace = false;
    const isHeldUp =
      !isNext && key !== undefined && (this.#isTaken(key) || this.#waiting.some((one) => one.key === key));
    message.blockedBy = isHeldUp ? 'KEY' : undefined;
    if (isHeldUp) this.#waiting.push(message);
    else message.state = 'READY';
  }

  #passOn(key: string | undefined): void {
    const at = this.#waiting.findIndex((one) => one.key === key);
    if (key === undefined || at === -1 || this.#isTaken(key)) return;
    const [next] = this.#waiting.splice(at, 1);
    if (next) Object.assign(next, { state: 'READY', blockedBy: undefined });
  }

  #end(message: ModelMessage, state: ModelMessage['state']): void {
    const { question, key } = message;
    if (message.blockedBy === 'KEY') this.#waiting.splice(this.#waiting.indexOf(message), 1);
    Object.assign(message, { state, blockedBy: undefined, keepsPlace: false });
    if (question?.state === 'OPEN') question.state = 'WITHDRAWN';
    this.#passOn(key);
  }
}
