import { acted, events } from '../../engine/declare/event.ts';
import { id } from '../../engine/declare/field.ts';
import { Question } from './records.ts';

const { scopeId, state } = Question.fields;
const asItStands = { scopeId, messageId: id().optional(), mailboxId: id().optional(), state };

export const questionEvents = events({
  'question.asked': asItStands,
  'question.answered': acted(asItStands),
  'question.expired': asItStands,
  'question.withdrawn': acted(asItStands),
});
