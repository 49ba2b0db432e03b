import Joi from 'joi';
import { record, replyId, time } from '../http/replies.ts';

export const reservationStates = ['ACTIVE', 'SETTLED', 'VOIDED'];

const minor = () => Joi.string().pattern(/^(0|[1-9][0-9]{0,17})$/);

const balances = record({ limit: minor(), reserved: minor(), settled: minor(), available: minor() });

const budgetFields = {
  id: replyId(),
  name: Joi.string(),
  currency: Joi.string().pattern(/^[A-Z]{3}$/),
  scale: Joi.number().integer().min(0).max(9),
  limitMinor: minor(),
  balances,
  createdAt: time(),
};

export const reservationFields = {
  id: replyId(),
  budgetId: replyId(),
  scopeId: replyId(),
  holder: Joi.string(),
  amountMinor: minor(),
  settledMinor: minor(),
  voidedMinor: minor(),
  remainingMinor: minor(),
  state: Joi.valid(...reservationStates),
  settleBy: time().allow(null),
  overdue: Joi.boolean(),
  createdAt: time(),
  closedAt: time().allow(null),
};

const entry = record({
  id: replyId(),
  budgetId: replyId(),
  reservationId: replyId(),
  kind: Joi.valid('SETTLE', 'VOID'),
  amountMinor: minor(),
  workKey: Joi.string(),
  createdAt: time(),
});

export const budgetReply = {
  record: record(budgetFields),
  view: record({
    ...budgetFields,
    reservations: Joi.array().items(record(reservationFields)),
    nextCursor: Joi.string().allow(null),
  }),
  reserved: record({ ...reservationFields, balances }),
  entry: record({ entry, replay: Joi.boolean(), reservation: record(reservationFields), balances }),
};
