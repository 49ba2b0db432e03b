import { counter } from '../../engine/declare/field.ts';
import { nested } from '../../engine/declare/record.ts';
import type { Room } from '../room.ts';
import { webhookErrors } from './errors.ts';
import { webhookEvents } from './events.ts';
import { webhookKeys } from './keys.ts';
import { Delivery, Destination, DueAttempt, NewDestination, Sending } from './records.ts';
import { webhookRoutes } from './routes.ts';

export const webhookRoom: Room = {
  name: 'webhook',
  tag: { place: 12, title: 'Webhooks', description: 'The journal, delivered to an address.' },
  routes: webhookRoutes,
  keys: webhookKeys,
  errors: webhookErrors,
  records: [Destination, NewDestination, Delivery, Sending, DueAttempt],
  events: webhookEvents,
  backlog: {
    outbox: nested({
      UNREAD: counter('outbox:UNREAD'),
      PENDING: counter('outbox:PENDING'),
      DELIVERED: counter('outbox:DELIVERED'),
      EXHAUSTED: counter('outbox:EXHAUSTED'),
    }).means('events on their way to destinations, by state'),
  },
};
