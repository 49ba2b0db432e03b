import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';

export const questionErrors: ErrorTable = {
  QUESTION_NOT_FOUND: entry(404, 'there is no such question in this space'),
  QUESTION_CLOSED: advised(
    'it cannot be changed like this: see its state and its answer with question_view; if a message waits for it, message_cancel withdraws it',
    409,
    (state) =>
      state === 'MESSAGE'
        ? 'a message waits for the answer: cancel the message, which withdraws its question'
        : `the question is ${state}: only an OPEN one can be answered, withdrawn or linked to`,
  ),
  QUESTIONS_FULL: advised(
    'decide by yourself, or give the message back with message_nack',
    409,
    (limit) => `the message has asked ${limit} questions already: decide without asking, or send a new message`,
  ),
  LINKS_FULL: entry(409, (limit) => `the question has ${limit} links already: use one of them`),
};
