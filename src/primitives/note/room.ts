import { number } from '../../engine/declare/field.ts';
import type { Room } from '../room.ts';
import { noteErrors } from './errors.ts';
import { noteEvents } from './events.ts';
import { noteKeys } from './keys.ts';
import { ListedNote, Note, PutNote } from './records.ts';
import { noteRoutes } from './routes.ts';

export const noteRoom: Room = {
  name: 'note',
  tag: {
    place: 10,
    tools: 'notes',
    title: 'Notes',
    description: 'Values that the agents of a run share, with compare-and-set.',
  },
  routes: noteRoutes,
  keys: noteKeys,
  errors: noteErrors,
  records: [Note, PutNote, ListedNote],
  events: noteEvents,
  extends: {
    scope: {
      notes: number().or(0).internal(),
      noteBytes: number().or(0).internal(),
      noteVersion: number().or(0).internal(),
      /** Conditions of suspended messages that wait for its notes. */
      noteWaits: number().or(0).internal(),
    },
  },
};
