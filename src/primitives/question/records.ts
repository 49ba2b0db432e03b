import Joi from 'joi';
import {
  exampleId,
  Field,
  flag,
  id,
  momentOfId,
  oneOf,
  opaque,
  state,
  text,
  time,
} from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';

export const questionStates = ['OPEN', 'ANSWERED', 'EXPIRED', 'WITHDRAWN'] as const;

/** Stored as lines; an option has no line break. */
const options = new Field<readonly string[]>({
  lua: 'text',
  read: (value) => String(value).split('\n'),
  schema: () => Joi.array().items(Joi.string()),
})
  .orNull()
  .means('the answers to choose from, or null if any answer is allowed')
  .example(['yes', 'no']);

export const Question = record('Question', {
  id: id().forModels('`id` of the question').example(exampleId('questionId')),
  scopeId: id(),
  messageId: id()
    .orNull()
    .means('the message that waits for the answer, or null if none does')
    .example(exampleId('messageId')),
  mailboxId: id()
    .orNull()
    .means('the mailbox of that message, or null if there is no message')
    .example(exampleId('mailboxId')),
  holder: text()
    .orNull()
    .means('the name of the person or program that asks, or null if none was given')
    .example('worker-7'),
  question: opaque()
    .means('the question, as it was asked')
    .example('Publish the report?' as never),
  options,
  state: state('questions', ...questionStates),
  answer: opaque().orNull().later().means('the answer, or null if there is none').example(null),
  answeredBy: text()
    .orNull()
    .later()
    .means('the name that the person who answered gave, or null if nobody has answered')
    .example(null),
  answeredVia: oneOf('API', 'PAGE')
    .orNull()
    .later()
    .means('how it was answered: API with an API key, PAGE on the page of its answerUrl; null if it was not answered')
    .example(null),
  createdAt: time().of((get) => momentOfId(get('id'))),
  expiresAt: time().means('when it can no longer be answered').example('2026-02-07T12:00:00.000Z'),
  answeredAt: time().orNull().later().means('when it was answered, or null if it was not').example(null),
  /** Whether its message fails if nobody answers. */
  fails: flag().internal(),
  /** The digests of its links' tokens, separated by blanks. */
  links: text().orNull().later().secret(),
});

/** A question in the view of a run, without texts. */
export const QuestionSummary = Question.without('QuestionSummary', 'question', 'options', 'answer');

export const answerUrl = text()
  .means('a page on which a person answers it once, without a key; shown here only, and never over MCP')
  .example('https://muster.example.com/answer/acme_kq0…');

export const AskedQuestion = Question.with('AskedQuestion', { answerUrl });
