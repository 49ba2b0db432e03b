import type { Happening } from './records.ts';

/** A kind of objects that have an id of their own. */
interface Kind {
  /** For people. */
  readonly noun: string;
  /** Where the API has one of them, but for its id. */
  readonly path: string;
  /** The field of its record that is its name; a kind without one has none that is worth a look. */
  readonly nameField?: string;
}

/** By the name of the page of one of them. */
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

/** The kind of what an event is about; undefined where that has no page. */
export function kindOfEvent({ aggregate }: Pick<Happening, 'aggregate'>): KindName | undefined {
  return aggregate === 'scope' ? 'run' : kindNames.find((name) => name === aggregate);
}

/** The kind of the id in a field, by the field's name: `parentScopeId`, `lastMessageId`. */
export function kindOfField(field: string): KindName | undefined {
  const [, word = ''] = /([A-Z]?[a-z]+)Id$/.exec(field) ?? [];
  const name = word.toLowerCase();
  return name === 'scope' ? 'run' : kindNames.find((one) => one === name);
}
