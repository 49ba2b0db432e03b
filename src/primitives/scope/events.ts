import { counted, events } from '../../engine/declare/event.ts';
import { id, oneOf } from '../../engine/declare/field.ts';

export const scopeEvents = events({
  'scope.created': { scopeId: id(), parentScopeId: id().orNull() },
  'scope.paused': { scopeId: id() },
  'scope.resumed': { scopeId: id() },
  'scope.cancelled': counted({ scopeId: id(), state: oneOf('CANCELLED') }),
});
