import Joi from 'joi';
import { exampleId, id as idField, oneOf, text as textField } from '../../engine/declare/field.ts';
import { exactly, one, record } from '../../engine/declare/record.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { actor, fields, flag, id, integer, ofRun, opaque, optional, says, text } from '../../engine/route/fields.ts';
import { type LinkTo, newLink } from '../../engine/route/link.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Input, type Route, read, route } from '../../engine/route/route.ts';
import { answerPath, choiceOf, option } from './answer.ts';
import { AskedQuestion, answerUrl, Question, questionStates } from './records.ts';

const reply = { question: one(Question) };
const asked = { ...reply, linkToken: textField() };

/** A week, as people may be away that long. */
const defaultSeconds = 604_800;
/** A month. */
const maxSeconds = 2_592_000;

/** The fields of a question to ask. */
const whatToAsk = {
  question: opaque()
    .description('the question: usually a text, but any JSON value of at most 4,096 bytes')
    .meta({ model: 'in words for a person who knows nothing of your work' })
    .example('Publish the report?'),
  options: optional(
    Joi.array<readonly string[]>()
      .items(option())
      .min(1)
      .max(20)
      .description('the answers to choose from; by default any answer is allowed')
      .meta({ model: 'the answers to choose from' })
      .example(['yes', 'no'])
      .error(says('must be a list of 1 to 20 texts of 1 to 200 characters, without control characters')),
  ),
  expiresInSeconds: optional(integer(5, maxSeconds), defaultSeconds)
    .description('how long it can be answered, from now on')
    .meta({ model: 'how long it can be answered' }),
};

const askedOf = (question: typeof Question.type, linkToken: string, linkTo: LinkTo): object => {
  const address = linkTo(answerPath, linkToken);
  return { ...question, ...(address !== undefined && { answerUrl: address }) };
};

const AskedMessage = record('AskedMessage', {
  id: idField().example(exampleId('messageId')),
  state: oneOf('BLOCKED'),
  question: one(AskedQuestion),
});

const blocked = (input: Input) => ({ id: param(input, 'messageId'), state: 'BLOCKED' });

const ask = route({
  method: 'POST',
  path: '/messages/:messageId/ask',
  call: 'message.ask',
  summary: 'Ask a question and give up the claim; the message goes on when somebody has answered',
  description:
    'Ends the claim without counting its attempt: the message is BLOCKED, nobody holds it, and its pool units are for ' +
    'others. It keeps the place of its key, so that with `perKey` 1 the messages behind it wait for the answer, too; with ' +
    '`yieldsKey` they go on, and it queues for its key again once it continues. Once the question is answered, the next `recv` of the message has it in `question`, with ' +
    'its answer. If nobody answers by `expiresAt`, the message continues without an answer (`RETURN`) or is FAILED (`FAIL`). ' +
    'Whoever has `answerUrl` can answer once, without a key: hand it to the person who is to decide.',
  title: 'Ask a person',
  tool: 'Ask a person what you must not decide, and stop working on the message: your claim ends with this call, so save what you have reached in `progress`. It is received again once answered, with `question.answer` in it (null if nobody answered in time).',
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({
    token: text(1, 256)
      .description('the token of the claim, from the answer to recv')
      .meta({ model: 'from message_recv' })
      .example('q1Yw3T0dB8mLr5vXz7Nc2A'),
    ...whatToAsk,
    onExpiry: optional(Joi.valid('RETURN', 'FAIL') as Joi.AnySchema<'RETURN' | 'FAIL'>, 'RETURN')
      .description(
        'what happens to the message if nobody answers: with RETURN it continues without an answer, with FAIL it is FAILED',
      )
      .meta({ model: 'if nobody answers: RETURN (default) goes on without an answer, FAIL ends it' }),
    yieldsKey: optional(flag(), false)
      .description(
        "whether the next message of its key goes on meanwhile; the message then joins the end of its key's queue when it continues",
      )
      .meta({ model: 'others of its key go on; it returns behind them' }),
    progress: opaque()
      .optional()
      .description('the progress of the work, for the next attempt; at most 4,096 bytes')
      .meta({ model: 'how far you are, for the next attempt' })
      .example({ page: 3 }),
  }),
  opaque: ['question'],
  alsoOpaque: ['progress'],
  toolAnswer: true,
  notInTool: ['yieldsKey'],
  success: { 201: AskedMessage.schema },
  refuses: [
    'MESSAGE_NOT_FOUND',
    'CLAIM_LOST',
    'GROUP_DECIDED',
    'PAYLOAD_TOO_LARGE',
    'QUESTIONS_FULL',
    'RETAINED_BYTES_EXCEEDED',
    'MESSAGES_DAMAGED',
  ],
  script: 'question/ask',
  args: ({ body: { question, options, onExpiry, yieldsKey, progress, ...body } }) => ({
    ...body,
    yieldsKey: yieldsKey ? '1' : '',
    text: question,
    options: options?.join('\n') ?? '',
    fails: onExpiry === 'FAIL' ? '1' : '',
    progress: progress ?? '',
    ...newLink(),
    tail: randomTail(),
  }),
  reply: asked,
  makes: AskedMessage,
  given: blocked,
  answer: ({ question, linkToken }, input, _replayed, linkTo) => ({
    status: 201,
    body: { ...blocked(input), question: askedOf(question, linkToken, linkTo) },
  }),
});

const create = route({
  method: 'POST',
  path: '/questions',
  call: 'question.create',
  summary: 'Ask a question that no message waits for',
  description: 'Read its answer with `GET /questions/{questionId}` and `waitSeconds`, or follow `question.answered`.',
  title: 'Ask and go on',
  tool: 'Ask a person while you go on with your work. Keep the id: question_view with waitSeconds answers when somebody has answered. If you cannot go on without, use message_ask.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    scopeId: ofRun(),
    ...whatToAsk,
    holder: optional(text(1, 256))
      .description('the name of the person or program that asks, for those who answer')
      .meta({ model: 'the name of the person or program that asks, for those who answer' }),
  }),
  opaque: ['question'],
  example: { messageId: null, mailboxId: null },
  success: { 201: AskedQuestion.schema },
  refuses: [
    'SCOPE_CANCELLED',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'ACTIVE_RUNS_LIMITED',
    'RETAINED_BYTES_EXCEEDED',
    'TIMERS_FULL',
  ],
  script: 'question/create',
  args: ({ body: { question, options, holder, ...body } }) => ({
    ...body,
    text: question,
    options: options?.join('\n') ?? '',
    holder: holder ?? '',
    ...newLink(),
    tail: randomTail(),
  }),
  reply: asked,
  answer: ({ question, linkToken }, _input, _replayed, linkTo) => ({
    status: 201,
    body: askedOf(question, linkToken, linkTo),
  }),
});

const list = readList({
  path: '/questions',
  call: 'question.list',
  summary: 'List questions, newest first; by state, run and message',
  description:
    'With `state=OPEN`, the questions that wait for an answer. `scopeId` includes the scopes below it. A filtered page looks at ' +
    'no more than 1,000 questions and 4 MiB, so it may be short although there are more.',
  title: 'See questions',
  tool: 'See the questions of a run or of a message, with their answers; state OPEN: those that nobody has answered yet.',
  script: 'question/list',
  plural: 'questions',
  record: Question,
  states: questionStates,
  filters: {
    scopeId: id()
      .optional()
      .description('only those of this scope and of the scopes below it')
      .meta({ model: 'of this run' }),
    messageId: id().optional().description('only those that this message has asked'),
  },
});

const view = read({
  path: '/questions/:questionId',
  call: 'question.view',
  summary: 'A question with its answer; with waitSeconds, once it is not OPEN',
  description:
    'With `waitSeconds` it answers once the question is ANSWERED, EXPIRED or WITHDRAWN, or when the time is up.',
  title: 'Wait for an answer',
  tool: 'See a question and its answer. With waitSeconds it answers when somebody has answered (ANSWERED: `answer`, `answeredBy`), when nobody can any more (EXPIRED, WITHDRAWN), or when the time is over (still OPEN: call again).',
  success: { 200: Question.schema },
  refuses: ['QUESTION_NOT_FOUND'],
  script: 'question/view',
  asRecord: {},
  reply,
  wait: { on: 'questionId', isOver: ({ question }) => question.state !== 'OPEN' },
});

const answer = route({
  method: 'POST',
  path: '/questions/:questionId/answer',
  call: 'question.answer',
  summary: 'Answer a question; the message that asked it goes on',
  description:
    'The first answer stands. The same answer by the same person again is answered as the first time; any other is ' +
    'refused (`QUESTION_CLOSED`). If the question has `options`, the answer must be one of them.',
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  body: fields({
    answer: opaque()
      .description(
        "the answer: any JSON, of at most the space's maxPayloadBytes; one of the options where there are any",
      )
      .example('yes'),
    answeredBy: actor()
      .description('the name of the person who answers; a key that is bound to a holder may leave it out')
      .example('ann@example.com'),
  }),
  opaque: ['answer'],
  example: {
    state: 'ANSWERED',
    answer: 'yes',
    answeredBy: 'ann@example.com',
    answeredVia: 'API',
    answeredAt: '2026-01-31T12:00:00.000Z',
  },
  success: { 200: Question.schema },
  refuses: ['QUESTION_NOT_FOUND', 'QUESTION_CLOSED', 'PAYLOAD_TOO_LARGE'],
  script: 'question/answer',
  args: ({ body }) => ({ ...body, answeredBy: body.answeredBy ?? '', choice: choiceOf(body.answer) }),
  reply,
});

const withdraw = route({
  method: 'POST',
  path: '/questions/:questionId/withdraw',
  call: 'question.withdraw',
  summary: 'Withdraw an OPEN question that no message waits for',
  description:
    'Its links then say so. Repeating it changes nothing. A message that ends withdraws its question itself.',
  title: 'Withdraw a question',
  tool: 'Withdraw a question of yours whose answer you do not need any more, if it was asked by question_create.',
  isRepeatable: true,
  isDestructive: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  example: { state: 'WITHDRAWN', messageId: null, mailboxId: null },
  success: { 200: Question.schema },
  refuses: ['QUESTION_NOT_FOUND', 'QUESTION_CLOSED'],
  script: 'question/withdraw',
  reply,
});

const link = route({
  method: 'POST',
  path: '/questions/:questionId/link',
  call: 'question.link',
  summary: 'Make another link to the page on which an OPEN question is answered',
  description:
    'For programs that pass questions on to people, such as a webhook receiver for `question.asked`. Earlier links stay valid; ' +
    'a question has at most 100. Any of them can answer it, once.',
  permission: 'coordination_write',
  idempotency: 'optional',
  success: { 200: exactly({ answerUrl: answerUrl.schema }) },
  refuses: ['QUESTION_NOT_FOUND', 'QUESTION_CLOSED', 'OPERATIONS_EXHAUSTED', 'LINKS_FULL'],
  script: 'question/link',
  args: () => newLink(),
  reply: { linkToken: textField() },
  answer: ({ linkToken }, _input, _replayed, linkTo) => ({
    status: 200,
    body: { answerUrl: linkTo(answerPath, linkToken) },
  }),
});

export const questionRoutes: readonly Route[] = [ask, create, list, view, answer, withdraw, link];
