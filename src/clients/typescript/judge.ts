import { isRefusal } from './error.ts';
import type { Calls } from './generated/calls.ts';
import type { Answer, CallOptions, Typed } from './types.ts';

/** A group, given by its id or by the answer of the call that created or viewed it. */
export type GroupRef = string | { readonly groupId: string };

/** A group's member that has succeeded, with its result. */
export type JudgedTask<Result = unknown> = Omit<Answer<'group.view'>['members'][number], 'outcome'> & {
  readonly outcome: Result;
};

/** Whether a member's result is accepted; undefined leaves it to other judges. */
export type Verdict<Result> = (task: JudgedTask<Result>) => boolean | undefined | Promise<boolean | undefined>;

const waitSeconds = 20;
const types = 'task.succeeded,task.requeued,group.task_joined,group.decided';

/**
 * Judges the members of a group as they succeed, until the group is decided. Existing verdicts, by any judge, stay, so a
 * judge may start again at any time.
 */
export async function judge<Result>(
  muster: Pick<Calls, 'event' | 'group' | 'task'>,
  group: GroupRef,
  verdict: Verdict<Result>,
  options: Pick<CallOptions, 'signal'>,
): Promise<Typed<Answer<'group.view'>, unknown, Result>> {
  const groupId = typeof group === 'string' ? group : group.groupId;
  const judged = new Set<string>();
  let cursor = 'latest';
  for (;;) {
    options.signal?.throwIfAborted();
    // Before the view, so that no later event is missed.
    if (cursor === 'latest') cursor = (await muster.event.watch({ cursor, limit: 1 }, options)).nextCursor;
    const found = await muster.group.view<Result>({ groupId }, options);
    if (found.state === 'DECIDED') return found as Typed<Answer<'group.view'>, unknown, Result>;
    let isDecided = false;
    for (const task of found.members) {
      const attempt = `${task.taskId}/${task.attempts}`;
      if (task.state !== 'SUCCEEDED' || task.verdict !== null || judged.has(attempt)) continue;
      judged.add(attempt);
      const isAccepted = await verdict(task as JudgedTask<Result>);
      isDecided =
        isAccepted !== undefined && (await give(muster, { groupId, taskId: task.taskId }, isAccepted, options));
      // The group is decided, but a verdict on another member would still be recorded.
      if (isDecided) break;
    }
    if (isDecided) continue;
    try {
      // A task that joined the group works in its own run, whose events are not watched here. The next view finds it.
      const news = { cursor, types, scopeId: found.scopeId, waitSeconds };
      cursor = (await muster.event.watch(news, options)).nextCursor;
    } catch (error) {
      if (!isRefusal(error, 'CURSOR_EXPIRED')) throw error;
      cursor = 'latest';
    }
  }
}

/** Gives a verdict. Returns whether it decided the group. */
async function give(
  { task }: Pick<Calls, 'task'>,
  member: { readonly groupId: string; readonly taskId: string },
  isAccepted: boolean,
  options: CallOptions,
): Promise<boolean> {
  try {
    return (await (isAccepted ? task.accept : task.reject)(member, options)).groupState === 'DECIDED';
  } catch (error) {
    // The group was decided, the member was requeued, or another judge was faster.
    if (!isRefusal(error, 'GROUP_DECIDED', 'TASK_NOT_SUCCEEDED', 'VERDICT_CONFLICT')) throw error;
    return false;
  }
}
