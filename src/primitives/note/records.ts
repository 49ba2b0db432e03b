import { id, number, opaque, text, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';

const value = opaque().means('its value: any JSON, unchanged');

export const Note = record('Note', {
  scopeId: id().means('the scope that it belongs to'),
  key: text().means('its name in the scope').forModels('the name of the note in its run').example('plan'),
  value,
  version: number(1)
    .means('the number of puts in the scope up to its last one; it rises with each put and is never used twice')
    .example(3),
  holder: text()
    .orNull()
    .means('the holder of the claim with which it was last put, or null if it was put without one'),
  createdAt: time(),
  updatedAt: time().means('when it was last put').example('2026-01-31T12:05:00.000Z'),
});

export const PutNote = Note.without('PutNote', 'value');

export const ListedNote = Note.with('ListedNote', {
  value: value.means('its value; missing unless values is true').orNull().optional(),
});
