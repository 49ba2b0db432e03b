import type { After } from './types.ts';

type Named = { readonly messageId: unknown } | { readonly groupId: unknown };

/** A prerequisite as the API names it. The answer of a submit has the ids of both its group and its message. */
function named(one: After): Named {
  if (typeof one === 'string' || '$from' in one) return { messageId: one };
  if ('messageId' in one) return { messageId: one.messageId };
  return 'groupId' in one ? { groupId: one.groupId } : { messageId: one.id };
}

/** The arguments of a call, with `after` in the API's form. */
export function withPrerequisites<T extends object>(args: T): T {
  if (!('after' in args) || !Array.isArray(args.after)) return args;
  return { ...args, after: args.after.map((one) => named(one as After)) };
}
