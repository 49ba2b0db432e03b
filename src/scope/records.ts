import { id, number, state, text, time } from '../declare/field.ts';
import { record } from '../declare/record.ts';

export const Scope = record('Scope', {
  id: id(),
  parentScopeId: id().orNull().workedOut(),
  state: state('scopes', 'ACTIVE', 'IDLE').of((get) => (Number(get('live')) > 0 ? 'ACTIVE' : 'IDLE'), 'live'),
  createdAt: time(),
  /** Ids from the root to this scope. */
  path: text().internal(),
  /** READY and CLAIMED messages and WAITING waiters of the subtree. */
  live: number().internal(),
});
