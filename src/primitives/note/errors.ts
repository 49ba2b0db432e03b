import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';

export const noteErrors: ErrorTable = {
  NOTE_NOT_FOUND: { ...entry(404, 'there is no such note in this scope'), parameter: 'key' },
  VERSION_CONFLICT: advised('read the note again, and decide anew', 409, (version) =>
    version === '0'
      ? 'there is no such note: ifVersion must be 0 to make it'
      : `ifVersion must be the note's version, which is ${version}: read it again`,
  ),
  NOTES_FULL: advised('delete notes that nobody needs, or keep the data elsewhere', 409, (detail) => {
    const [kind, limit] = detail.split(' ');
    return kind === 'notes'
      ? `the scope has the maximum of ${limit} notes: delete some, or use another scope`
      : `the notes of a scope have at most ${limit} bytes together: delete some, or use another scope`;
  }),
};
