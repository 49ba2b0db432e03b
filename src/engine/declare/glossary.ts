import { type Fields, flag, id, number, opaque, text, time, type Words } from './field.ts';
import { RecordDeclaration } from './record.ts';

/** Descriptions of fields by name. */
export type Glossary = ReadonlyMap<string, Words>;

/** Fields that mean the same in every room, so rooms need not describe them. */
export const commonFields: Fields = {
  asOf: time().means('the moment at which the figures were read'),
  attempts: number().means('the number of attempts so far').example(2),
  call: text().means('the name of the call'),
  createdAt: time().means('when it was created'),
  deadline: time()
    .means('when it expires unless it has ended by then, or null if it never does')
    .forModels('when it ends by itself, like 2026-01-31T12:00:00Z'),
  expiresAt: time().means('when its wait ends').example('2026-01-31T12:01:00.000Z'),
  finishedAt: time().means('when it ended, or null if it has not ended'),
  holder: text()
    .means('the name of its holder, which the caller chose')
    .forModels('your name, yours alone, in all calls')
    .example('worker-7'),
  idempotencyKey: text()
    .means(
      "the key that identifies the call in retries, like the header Idempotency-Key; by default it is derived from the batch's key and the call's index",
    )
    .forModels('to repeat a call'),
  mailboxId: id().means('the id of the mailbox'),
  messageId: id().means('the id of the message'),
  name: text().means('a name for people, by which it can be found').example('orders'),
  nextCursor: text().means('the cursor of the next page, or null if this is the last'),
  payload: opaque().means("the sender's value, unchanged"),
  position: number(1).means('its place in the queue, from 1, or null if it is in none'),
  replay: flag().means('whether an earlier request did it, so that this one changed nothing'),
  scopeId: id().means('the scope, which is a run or a part of one, or null if there is none'),
  state: text().means('its present state'),
  truncated: flag().means('whether there is more than is shown'),
  waitingSince: time().means('when it began to wait'),
  workKey: text()
    .means("the caller's name for this work, unique where it is used, by which a repetition is recognized")
    .forModels('a name for this step: the same again does nothing more')
    .example('order-4711'),
};

/** Field descriptions by name: the first one found. A record's `id` is `messageId` elsewhere, so the names are kept apart. */
export function glossaryOf(declared: readonly (RecordDeclaration | Fields)[]): Glossary {
  const found = new Map<string, Words>();
  for (const one of declared) {
    const [fields, idName] = one instanceof RecordDeclaration ? [one.fields, `${one.luaName}Id`] : [one, 'id'];
    for (const [field, { special }] of Object.entries(fields)) {
      const name = field === 'id' ? idName : field;
      found.set(name, { ...special, ...found.get(name) });
    }
  }
  return found;
}
