import { hash } from 'node:crypto';
import { flag } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { param } from '../../engine/route/args.ts';
import { invalid } from '../../engine/route/errors.ts';
import { fields, id, integer, opaque, optional, queryFlag, queryInteger, text } from '../../engine/route/fields.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Input, type Route, read, route } from '../../engine/route/route.ts';
import { noteKey as key, maxKey, maxVersion } from './key.ts';
import { ListedNote, Note, PutNote } from './records.ts';

const path = '/scopes/:scopeId/notes/:key';
const params = fields({ key });

const put = route({
  method: 'PUT',
  path,
  params,
  call: 'note.put',
  summary: 'Put a note; 201 if it is new',
  description:
    'With `ifVersion` only if the note is at that version or, with 0, does not exist (`VERSION_CONFLICT`): so two callers that ' +
    'change a note at once do not overwrite one another. With `messageId` and `token` only while that claim is live ' +
    '(`CLAIM_LOST`): so a worker that has lost its message changes nothing. A scope has at most 10,000 notes of 16 MiB ' +
    'together. They are kept as long as their scope, and a put makes the scope if it is new.',
  title: 'Write a note',
  tool: 'Keep a value for all agents of a run. Pass ifVersion (the version you read, 0 for a new note) if what you write depends on what you read: if it was changed you are refused: read again. Pass messageId and token while you work on a message.',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({
    value: opaque().description('the value').meta({ model: 'what to keep' }).example({ step: 'draft' }),
    ifVersion: optional(integer(0, maxVersion))
      .description('the version that the note must have, or 0 if it must not exist; by default any')
      .meta({ model: 'the version it must have; 0: none; left out: any' })
      .example(2),
    messageId: optional(id())
      .description('a message whose claim must be live; only with token')
      .meta({ model: 'whose claim must be live, with token' }),
    token: optional(text(1, 256))
      .description('the token of that claim; only with messageId')
      .meta({ model: 'of that claim' })
      .example('q1Yw3T0dB8mLr5vXz7Nc2A'),
  }),
  opaque: ['value'],
  success: { 201: PutNote.schema, 200: PutNote.schema },
  refuses: [
    'MESSAGE_NOT_FOUND',
    'CLAIM_LOST',
    'SCOPE_CANCELLED',
    'VERSION_CONFLICT',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'ACTIVE_RUNS_LIMITED',
    'NOTES_FULL',
    'RETAINED_BYTES_EXCEEDED',
    'MESSAGES_DAMAGED',
  ],
  script: 'note/put',
  args: ({ body: { value, ifVersion = '', messageId = '', token = '' } }) => {
    if ((messageId === '') !== (token === '')) throw invalid('messageId and token must be sent together, or neither');
    return { value, ifVersion, messageId, token };
  },
  reply: { isNew: flag(), note: one(PutNote) },
  answer: ({ isNew, note }) => ({ status: isNew ? 201 : 200, body: note }),
});

/** The version that a held read waits to see replaced. */
const awaited = (
  { query }: Input<{ readonly sinceVersion?: number | undefined }>,
  first: { readonly note: { readonly version: number } } | undefined,
): number => query.sinceVersion ?? first?.note.version ?? 0;

const view = read({
  path,
  params,
  call: 'note.view',
  summary: 'A note with its value',
  description:
    'With `waitSeconds` it answers once the note has another version than `sinceVersion`, is made, or is deleted ' +
    '(`NOTE_NOT_FOUND`); or when the time is up.',
  title: 'Read a note',
  tool: 'Read a note of a run: its value and version. With sinceVersion (the version you know, or 0 while there is none) and waitSeconds it answers when somebody has changed it, or the time is over (the same version: call again).',
  query: fields({
    sinceVersion: queryInteger(0, maxVersion)
      .description(
        'the version after which to wait for the next, with waitSeconds; 0 waits until the note exists. By default the version that it has now',
      )
      .meta({ model: 'the version you know, to wait for the next; 0: none' }),
  }),
  success: { 200: Note.schema },
  refuses: ['NOTE_NOT_FOUND'],
  script: 'note/view',
  asRecord: {},
  reply: { note: one(Note) },
  wait: {
    on: (input) => hash('sha1', `${param(input, 'scopeId')} ${param(input, 'key')}`),
    isOver: ({ note }, input, first) => note.version !== awaited(input, first),
    outlasts: (code, input, first) => code === 'NOTE_NOT_FOUND' && awaited(input, first) === 0,
  },
});

const list = readList({
  path: '/scopes/:scopeId/notes',
  call: 'note.list',
  summary: 'List the notes of a scope, by key; those with a prefix',
  description:
    'In the order of their keys. With `values=true` a page has at most 4 MiB of values, so it may be short while ' +
    '`nextCursor` is not null. A scope that was never used has no notes.',
  title: 'List notes',
  tool: 'See which notes a run has, and who put them. Values only with values true: better read the one you need with note_view.',
  script: 'note/list',
  plural: 'notes',
  filters: {
    prefix: optional(text(1, maxKey).allow('')).description('only those whose keys begin with this'),
    values: queryFlag().description('whether the notes have their values'),
  },
  position: /^\P{Cc}{1,256}$/u,
  record: ListedNote,
  shown: (note) => {
    const { value, ...others } = note;
    return value === null ? others : note;
  },
});

const remove = route({
  method: 'DELETE',
  path,
  params,
  call: 'note.delete',
  summary: 'Delete a note',
  description:
    'With `ifVersion` only if it is at that version. A note created again under the same key has a version it never had.',
  title: 'Delete a note',
  tool: 'Delete a note of a run that nobody needs any more. Pass ifVersion (the version you read) if it must not have changed since.',
  isDestructive: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  query: fields({
    ifVersion: queryInteger(0, maxVersion)
      .description('the version that the note must have; by default any')
      .meta({ model: 'the version it must have; left out: any' }),
  }),
  success: { 204: null },
  refuses: ['NOTE_NOT_FOUND', 'SCOPE_CANCELLED', 'VERSION_CONFLICT', 'OPERATIONS_EXHAUSTED'],
  script: 'note/delete',
  args: ({ query }) => ({ ifVersion: query.ifVersion ?? '' }),
  reply: {},
});

export const noteRoutes: readonly Route[] = [put, view, list, remove];
