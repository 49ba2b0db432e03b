import Joi from 'joi';
import { Field, id, momentOfId, number, oneOf, state, text, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';
import { requeueableStates } from '../mailbox/records.ts';

export const bulkStates = ['RUNNING', 'DONE', 'CANCELLED'] as const;
export const bulkActions = ['REQUEUE', 'PURGE'] as const;
/** The states of messages that a purge cancels. */
export const purgeableStates = ['READY', 'DELAYED', 'BLOCKED'] as const;
const states = [...requeueableStates, ...purgeableStates] as const;

/** Stored as `CODE number` of each code, separated by blanks. */
const passedOver = new Field<Readonly<Record<string, number>>>({
  lua: 'text',
  read: (value) =>
    Object.fromEntries(
      Array.from(
        String(value).matchAll(/(\S+) (\d+)/g),
        ([, code = '', messages]) => [code, Number(messages)] as const,
      ).sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  absent: {},
  schema: () => Joi.object().pattern(Joi.string(), number().schema),
})
  .later()
  .means('the messages that stay as they are, by the code of the error that says why')
  .example({ GROUP_DECIDED: 2 });

export const Bulk = record('Bulk', {
  id: id(),
  mailboxId: id().orNull().means('the mailbox whose messages it changes, or null if it is of a scope'),
  scopeId: id()
    .orNull()
    .means('the scope whose messages, and those of the scopes below, it changes; or null')
    .example(null),
  action: oneOf(...bulkActions).means(
    'REQUEUE: requeues messages that ended without success; PURGE: cancels messages that wait',
  ),
  messageState: oneOf(...states)
    .orNull()
    .means('the state of the messages that it changes, or null if it is any that a purge cancels')
    .example('FAILED'),
  state: state('bulks', ...bulkStates),
  done: number().or(0).later().means('the messages changed so far').example(4_869),
  passedOver,
  waitsFor: text()
    .orNull()
    .later()
    .means('the code of the limit that leaves no room for the next message, which is tried again every second; or null')
    .example(null),
  createdAt: time().of((get) => momentOfId(get('id'))),
  finishedAt: time().orNull().later().means('when it ended, or null if it is RUNNING'),
  requestId: text().internal(),
  actor: text().internal(),
  /** The last message looked at, in the scope that the walk has come to. */
  position: text().orNull().later().internal(),
  walk: text().orNull().later().internal(),
  /** Since when no room is left. */
  stalledAt: number().orNull().later().internal(),
});
