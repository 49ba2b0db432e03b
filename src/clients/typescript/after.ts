import type { After } from './types.ts';

type Named = { readonly messageId: unknown } | { readonly groupId: unknown } | { readonly scopeId: unknown };

/** An earlier call of an atomic batch. */
type Pending = Readonly<Record<'call' | 'id' | 'messageId' | 'groupId', unknown>>;

const isPending = (one: object): one is Pending => 'call' in one;

/** A prerequisite as the API names it. The answer of a submit has the ids of both its group and its message. */
function named(one: After): Named {
  if (typeof one === 'string' || '$from' in one) return { messageId: one };
  // A pending call has the members of its arguments, and those of its answer as references.
  if (isPending(one)) {
    if (one.call === 'group.create') return { groupId: one.groupId };
    return { messageId: one.call === 'task.submit' ? one.messageId : one.id };
  }
  if ('messageId' in one) return { messageId: one.messageId };
  if ('groupId' in one) return { groupId: one.groupId };
  return 'id' in one ? { messageId: one.id } : { scopeId: one.scopeId };
}

/** The arguments of a call, with `after` in the API's form. */
export function withPrerequisites<T extends object>(args: T): T {
  if (!('after' in args) || !Array.isArray(args.after)) return args;
  return { ...args, after: args.after.map((one) => named(one as After)) };
}
