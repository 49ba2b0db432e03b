import { type Fields, flag, raw } from '../declare/field.ts';
import { exactly, Many, many, readMembers, type Shown } from '../declare/record.ts';
import { type Route, read } from '../http/route.ts';
import { Scope } from './records.ts';

/** Records shown of each kind. */
const maxRows = 200;

/** The run view; `inRun`: the members that rooms declare for it. */
export function scopeRoutes(inRun: Fields): readonly Route[] {
  const scopes = many(Scope, maxRows);
  const shown = Object.entries(inRun).map(([name, field]) => [
    name,
    field instanceof Many ? many(field.record, maxRows).schema : field.schema,
  ]);
  const run = read({
    path: '/ops/runs/:scopeId',
    call: 'run.view',
    summary: 'A run: what belongs to a scope and to those below it, newest first',
    success: {
      200: exactly({
        scope: Scope.schema,
        scopes: scopes.schema,
        ...Object.fromEntries(shown),
        truncated: flag().schema,
      }),
    },
    refuses: ['SCOPE_NOT_FOUND'],
    script: 'scope/run',
    args: () => ({ maxRows }),
    reply: { scopes, lists: raw<Shown[]>(), truncated: flag() },
    answer: ({ scopes: [scope, ...below], lists, truncated }) => ({
      status: 200,
      body: { scope, scopes: below, ...readMembers(inRun, lists), truncated },
    }),
  });
  return [run];
}
