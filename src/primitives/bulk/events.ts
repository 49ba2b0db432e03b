import { acted, events } from '../../engine/declare/event.ts';
import { id } from '../../engine/declare/field.ts';
import { Bulk } from './records.ts';

const { action, state, done } = Bulk.fields;
const ofBulk = { scopeId: id().optional(), mailboxId: id().optional(), action, state };

export const bulkEvents = events({
  'bulk.started': acted(ofBulk),
  'bulk.ended': acted({ ...ofBulk, done }),
});
