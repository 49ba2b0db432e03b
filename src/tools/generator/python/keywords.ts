import type { Call } from '../document.ts';
import type { Arguments } from './arguments.ts';
import { alone } from './kinds.ts';
import { docstring } from './words.ts';

/** The arguments of a call that a class of typed mailboxes passes on, but for those that it gives or types itself. */
interface Passed {
  readonly call: string;
  readonly without: readonly string[];
}

const passed: Readonly<Record<string, Passed>> = {
  GroupFields: { call: 'group.create', without: ['mailboxId', 'condition'] },
  JoinedFields: { call: 'message.send', without: ['mailboxId', 'scopeId', 'payload', 'workKey'] },
  MailboxFields: { call: 'mailbox.create', without: ['name', 'unique'] },
  MessageFilter: { call: 'message.list', without: ['mailboxId', 'cursor'] },
  ScheduleFields: { call: 'schedule.create', without: ['name', 'mailboxId', 'scopeId', 'payload'] },
  SendFields: { call: 'message.send', without: ['mailboxId', 'scopeId', 'payload'] },
  SubmitFields: { call: 'task.submit', without: ['groupId', 'taskKey', 'input'] },
};

/** Classes of optional keyword arguments, for functions that pass them on to a call. */
export class Keywords {
  readonly names = Object.keys(passed);
  readonly text: string;

  constructor(calls: readonly Call[], args: Arguments) {
    const classes = Object.entries(passed).map(([name, { call: id, without }]) => {
      const call = calls.find(({ operation }) => operation.operationId === id);
      if (!call) throw new Error(`there is no call ${id}`);
      const fields = args.of(call, alone).filter(({ json }) => !without.includes(json));
      return [
        `class ${name}(TypedDict, total=False):`,
        docstring([`Optional keyword arguments, as those of \`${id}\``], '    '),
        '',
        ...fields.map(({ name, type }) => `    ${name}: ${type}`),
      ].join('\n');
    });
    this.text = classes.join('\n\n\n');
  }
}
