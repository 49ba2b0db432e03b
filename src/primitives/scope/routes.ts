import { flag } from '../../engine/declare/field.ts';
import { one } from '../../engine/declare/record.ts';
import { randomTail } from '../../engine/route/args.ts';
import { fields, id, key, optional } from '../../engine/route/fields.ts';
import { pauseOrResume } from '../../engine/route/pause.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { Scope, scopeStates } from './records.ts';

const create = route({
  method: 'POST',
  path: '/scopes',
  call: 'scope.create',
  summary: 'Create a scope before its first use, with a name or below another; 200 if it exists already',
  description:
    'A scope also exists from its first use; this call creates one with a name or below another. A scope that ' +
    'already exists is answered with 200 if its parent and name agree with the request, otherwise with ' +
    'SCOPE_CONFLICT. A parent holds at most 10,000 scopes made so. One that is never used goes with ' +
    'retention.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    scopeId: optional(id()).description('the id of the scope; by default a new one'),
    parentScopeId: optional(id()).description('the scope in which it is created; by default it is a run'),
    name: optional(key(200)).description('a name for people, by which it can be found; it need not be unique'),
  }),
  success: { 201: Scope.schema, 200: Scope.schema },
  refuses: [
    'SCOPE_CONFLICT',
    'SCOPE_CANCELLED',
    'OPERATIONS_EXHAUSTED',
    'SCOPE_DEPTH_EXCEEDED',
    'SCOPE_CHILDREN_FULL',
    'ACTIVE_RUNS_LIMITED',
  ],
  script: 'scope/create',
  args: ({ body: { scopeId = '', parentScopeId = '', name = '' } }) => ({
    scopeId,
    parentScopeId,
    name,
    tail: randomTail(),
  }),
  reply: { known: flag(), scope: one(Scope) },
});

const list = readList({
  path: '/scopes',
  call: 'scope.list',
  summary: 'List scopes, newest first; by state, by parent, by name or its beginning',
  description:
    '`live` counts the messages that are not finished and the WAITING waiters and holds of a scope and of all scopes below it.',
  script: 'scope/list',
  plural: 'scopes',
  states: scopeStates,
  filters: {
    parentScopeId: optional(id()).description('only those whose parent is this scope'),
    name: optional(key(200)).description('only those with exactly this name'),
    namePrefix: optional(key(200)).description(
      'only those whose name begins with this text, from the last name to the first; with `name` it has no effect',
    ),
  },
  // With namePrefix, a name and a tab come first.
  position: /^([^\t]+\t)?[0-9a-f]{12} [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  record: Scope,
});

const view = read({
  path: '/scopes/:scopeId',
  call: 'scope.view',
  summary: 'A scope: its state, its parent and what is live in its subtree',
  description:
    'With `waitSeconds` it answers once nothing is live in the scope and the scopes below it, cancelled ' +
    'or not, or when the time is up.',
  success: { 200: Scope.schema },
  refuses: ['SCOPE_NOT_FOUND'],
  script: 'scope/view',
  asRecord: {},
  reply: { scope: one(Scope) },
  wait: { on: 'scopeId', isOver: ({ scope }) => scope.live.messages + scope.live.waiters === 0 },
});

const uncancelled: Route = { ...view, refuses: ['SCOPE_NOT_FOUND', 'SCOPE_CANCELLED'] };

const pause = pauseOrResume('scope.pause', uncancelled, {
  summary:
    'Pause a scope: nothing of it and of the scopes below it is received until it is resumed; repeating it changes nothing',
  description:
    'From now on receives pass over its messages, which keep their places; everything else goes on. `paused` is the ' +
    "scope's own: a scope below a paused one shows false. A paused scope is kept by retention.",
});

const resume = pauseOrResume('scope.resume', uncancelled, {
  summary: 'Resume a paused scope; repeating it changes nothing',
  description: 'Held receives are woken. Scopes below another paused scope stay paused by that one.',
});

export const scopeRoutes: readonly Route[] = [create, list, view, pause, resume];
