import { id, number } from '../../engine/declare/field.ts';
import { census, many } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { groupErrors } from './errors.ts';
import { groupEvents } from './events.ts';
import { groupKeys } from './keys.ts';
import { Task, TaskGroup, TaskGroupSummary } from './records.ts';
import { groupRoutes } from './routes.ts';

export const groupRoom: Room = {
  name: 'group',
  tag: { place: 2, tools: 'judging', title: 'Task groups', description: 'One decision for many tasks.' },
  routes: groupRoutes,
  keys: groupKeys,
  errors: groupErrors,
  records: [TaskGroup, Task, TaskGroupSummary],
  events: groupEvents,
  census: { groups: census(TaskGroup) },
  inRun: { groups: many(TaskGroupSummary) },
  /** A gate scope stores its group; a parent scope, the number of its undecided groups. */
  extends: {
    scope: {
      groupId: id().orNull().internal(),
      undecidedGroups: number().or(0).internal(),
      cancelledGroups: number().or(0).internal(),
    },
  },
  cancelled: { groups: number() },
};
