import { acted, counted, events } from '../../engine/declare/event.ts';
import { id } from '../../engine/declare/field.ts';
import { Mailbox, Message } from './records.ts';

const { scopeId, mailboxId, state, attempts, traceparent } = Message.fields;
const asItStands = {
  scopeId,
  mailboxId,
  taskId: id().optional().or('=id'),
  groupId: id().optional(),
  state,
  attempts,
  traceparent,
};

export const mailboxEvents = events({
  'mailbox.created': { mode: Mailbox.fields.mode },
  'mailbox.updated': { mode: Mailbox.fields.mode },
  'mailbox.deleted': acted({ mode: Mailbox.fields.mode }),
  'mailbox.paused': acted({ mode: Mailbox.fields.mode }),
  'mailbox.resumed': acted({ mode: Mailbox.fields.mode }),
  'message.sent': asItStands,
  'message.claimed': asItStands,
  'message.progressed': asItStands,
  'message.suspended': asItStands,
  'message.acked': asItStands,
  'message.retried': asItStands,
  'message.released': acted(asItStands),
  'message.rejected': counted(asItStands),
  'message.failed': counted(asItStands),
  'message.lease_expired': asItStands,
  'message.expired': counted(asItStands),
  'message.cancelled': counted(acted(asItStands)),
  'message.requeued': counted(acted(asItStands)),
});
