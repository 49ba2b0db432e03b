import { type Fields, flag, id, number, opaque, text, time, type Words } from './field.ts';
import { RecordDeclaration } from './record.ts';

/** Descriptions of fields by name. */
export type Glossary = ReadonlyMap<string, Words>;

/** Fields that mean the same in every room, so rooms need not describe them. */
export const commonFields: Fields = {
  asOf: time().means('when these figures were taken'),
  attempts: number().means('the number of attempts so far').example(2),
  call: text().means('the name of the call'),
  createdAt: time().means('when it was created'),
  deadline: time()
    .means('when it expires unless it has ended by then; null: never')
    .forModels('when it ends by itself, like 2026-01-31T12:00:00Z'),
  expiresAt: time().means('when its wait ends').example('2026-01-31T12:01:00.000Z'),
  finishedAt: time().means('when it ended; null: not yet'),
  holder: text()
    .means('its holder: a name that the caller chose')
    .forModels('your name, yours alone, in all calls')
    .example('worker-7'),
  idempotencyKey: text()
    .means(
      "names the call for its retries, as Idempotency-Key does; left out: made of the batch's key and the call's index",
    )
    .forModels('the same to repeat a call'),
  mailboxId: id().means('the id of the mailbox'),
  messageId: id().means('the id of the message'),
  name: text().means('for people, and to find it by').example('orders'),
  nextCursor: text().means('the cursor of the next page; null: this was the last'),
  payload: opaque().means("the sender's value, unchanged"),
  position: number(1).means('its place in the queue, from 1; null: it is in none'),
  replay: flag().means('whether an earlier request did it, so that this one changed nothing'),
  scopeId: id().means('the scope: a run, or a part of one; null: none'),
  state: text().means('its present state'),
  truncated: flag().means('whether there is more than is shown'),
  waitingSince: time().means('when it began to wait'),
  workKey: text()
    .means("the caller's name for this work, unique where it is used: a repetition is recognized by it")
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
