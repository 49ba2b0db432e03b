import { acted, counted, events } from '../../engine/declare/event.ts';
import { id, oneOf } from '../../engine/declare/field.ts';

export const scopeEvents = events({
  'scope.created': { scopeId: id(), parentScopeId: id().orNull() },
  'scope.paused': acted({ scopeId: id() }),
  'scope.resumed': acted({ scopeId: id() }),
  'scope.cancelled': counted(acted({ scopeId: id(), state: oneOf('CANCELLED') })),
});
