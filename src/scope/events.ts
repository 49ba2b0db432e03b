import { counted, events } from '../declare/event.ts';
import { id, oneOf } from '../declare/field.ts';

export const scopeEvents = events({
  'scope.created': { scopeId: id(), parentScopeId: id().orNull() },
  'scope.paused': { scopeId: id() },
  'scope.resumed': { scopeId: id() },
  'scope.cancelled': counted({ scopeId: id(), state: oneOf('CANCELLED') }),
});
