import { events } from '../declare/event.ts';
import { id } from '../declare/field.ts';

export const scopeEvents = events({
  'scope.created': { scopeId: id(), parentScopeId: id().orNull() },
});
