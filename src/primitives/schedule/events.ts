import { acted, events } from '../../engine/declare/event.ts';
import { id, text } from '../../engine/declare/field.ts';
import { Schedule } from './records.ts';

const { scopeId, mailboxId, state, missed } = Schedule.fields;
const asItStands = { scopeId, mailboxId, state };

export const scheduleEvents = events({
  'schedule.created': asItStands,
  'schedule.updated': acted(asItStands),
  'schedule.deleted': acted(asItStands),
  'schedule.fired': { ...asItStands, messageId: id(), missed },
  'schedule.refused': { ...asItStands, code: text(/^[A-Z_]+$/).means('the error code of the refusal'), missed },
});
