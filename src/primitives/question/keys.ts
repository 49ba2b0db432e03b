import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Question } from './records.ts';

const goes = 'with its message; one without a message max(retention window, 30 days) after its end';
const withQuestion = 'each entry with its question';

export const questionKeys = {
  questions: {
    pattern: 'muster:{org}:<spaceNumber>:questions',
    type: 'zset',
    holds: 'ids of the questions, in order of creation (score 0)',
    goes: withQuestion,
  },
  openQuestions: {
    pattern: 'muster:{org}:<spaceNumber>:openQuestions',
    type: 'zset',
    holds: 'ids of the OPEN questions, in order of creation (score 0)',
    goes: 'with the last OPEN question of the space',
  },
  question: {
    pattern: 'muster:{org}:<spaceNumber>:question:<questionId>',
    type: 'hash',
    holds: fieldsIn(
      Question,
      'options: in lines; fails: 1 if its message fails when it expires; links: the digests of the tokens in its links. Made at the moment of its id',
    ),
    goes,
  },
  messageQuestions: {
    pattern: 'muster:{org}:<spaceNumber>:message:<messageId>:questions',
    type: 'zset',
    holds: 'ids of the questions that the message has asked, in their order (score 0)',
    goes: 'when retention has removed its message',
  },
  scopeQuestions: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:questions',
    type: 'zset',
    holds: 'ids of the questions of this scope, not of scopes below it, in order of creation (score 0)',
    goes: withQuestion,
  },
} satisfies KeyTable;
