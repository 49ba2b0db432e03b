import { events } from '../declare/event.ts';
import { Note } from './records.ts';

const { scopeId, key, version } = Note.fields;

/** The aggregate's id is the scope's: a note has none of its own. */
export const noteEvents = events({
  'note.put': { scopeId, key, version },
  'note.deleted': { scopeId, key, version },
});
