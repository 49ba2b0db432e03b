import { events } from '../declare/event.ts';
import { number } from '../declare/field.ts';
import { Delivery, Destination, disabledReason } from './records.ts';

const { state } = Destination.fields;
const { destinationId, eventId } = Delivery.fields;

/** Those of a destination itself and of its deliveries; they are never sent to any. */
export const webhookEvents = events({
  'destination.created': { state },
  'destination.disabled': { state, disabledReason },
  'delivery.exhausted': { destinationId, eventId, attempts: number(1).means('the attempts that were made') },
});
