import { acted, events } from '../../engine/declare/event.ts';
import { Note } from './records.ts';

const { scopeId, key, version } = Note.fields;

/** The aggregateId is the scope's, as a note has no id. */
export const noteEvents = events({
  'note.put': { scopeId, key, version },
  'note.deleted': acted({ scopeId, key, version }),
});
