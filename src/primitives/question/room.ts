import { counter, number } from '../../engine/declare/field.ts';
import { census, many } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { questionErrors } from './errors.ts';
import { questionEvents } from './events.ts';
import { questionKeys } from './keys.ts';
import { AskedQuestion, Question, QuestionSummary } from './records.ts';
import { questionRoutes } from './routes.ts';

export const questionRoom: Room = {
  name: 'question',
  tag: {
    place: 7,
    tools: 'questions',
    title: 'Questions',
    description: 'Asked by work and answered by people; nothing is held meanwhile.',
  },
  routes: questionRoutes,
  keys: questionKeys,
  errors: questionErrors,
  records: [Question, QuestionSummary, AskedQuestion],
  events: questionEvents,
  census: { questions: census(Question) },
  backlog: { openQuestions: counter('questions:OPEN').means('the questions that nobody has answered yet') },
  inRun: { questions: many(QuestionSummary) },
  cancelled: { questions: number() },
  extends: { scope: { cancelledQuestions: number().or(0).internal() } },
};
