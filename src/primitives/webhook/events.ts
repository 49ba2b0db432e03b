import { events } from '../../engine/declare/event.ts';
import { number } from '../../engine/declare/field.ts';
import { Delivery, Destination, disabledReason } from './records.ts';

const { state } = Destination.fields;
const { destinationId, eventId } = Delivery.fields;

/** Events about destinations and deliveries. They are never sent to a destination. */
export const webhookEvents = events({
  'destination.created': { state },
  'destination.disabled': { state, disabledReason },
  'delivery.exhausted': { destinationId, eventId, attempts: number(1).means('the attempts that were made') },
});
