import type { Happening } from './records.ts';

/** A kind of object that has its own id. */
interface Kind {
  /** Its name on the pages. */
  readonly noun: string;
  /** The path of an object in the API, without its id. */
  readonly path: string;
  /** The field that contains an object's name. Objects of other kinds are shown by their ids. */
  readonly nameField?: string;
}

/** By the name of the page that shows one object. */
export const kinds = {
  message: { noun: 'Message', path: '/messages/' },
  run: { noun: 'Run', path: '/scopes/', nameField: 'name' },
  mailbox: { noun: 'Mailbox', path: '/mailboxes/', nameField: 'name' },
  budget: { noun: 'Budget', path: '/budgets/', nameField: 'name' },
  allowance: { noun: 'Allowance', path: '/allowances/', nameField: 'name' },
  waiter: { noun: 'Waiter', path: '/allowance-waiters/' },
  pool: { noun: 'Pool', path: '/pools/', nameField: 'name' },
  hold: { noun: 'Hold', path: '/pool-holds/' },
  group: { noun: 'Task group', path: '/task-groups/' },
  barrier: { noun: 'Barrier', path: '/barriers/' },
  question: { noun: 'Question', path: '/questions/' },
  schedule: { noun: 'Schedule', path: '/schedules/', nameField: 'name' },
  destination: { noun: 'Webhook destination', path: '/destinations/', nameField: 'url' },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

export const kindNames = Object.keys(kinds) as KindName[];

export const kindOf = (name: KindName): Kind => kinds[name];

/** The kind of an event's object; undefined if that kind has no page. */
export function kindOfEvent({ aggregate }: Pick<Happening, 'aggregate'>): KindName | undefined {
  return aggregate === 'scope' ? 'run' : kindNames.find((name) => name === aggregate);
}

/** The kind of object that a field's id refers to, by the field's name: `parentScopeId`, `lastMessageId`. */
export function kindOfField(field: string): KindName | undefined {
  const [, word = ''] = /([A-Z]?[a-z]+)Id$/.exec(field) ?? [];
  const name = word.toLowerCase();
  return name === 'scope' ? 'run' : kindNames.find((one) => one === name);
}
