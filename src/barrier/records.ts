import { id, number, state, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { record } from '../declare/record.ts';

export const barrierStates = ['OPEN', 'RELEASED', 'CANCELLED'] as const;

export const Barrier = record('Barrier', {
  id: id(),
  scopeId: id(),
  state: state('barriers', ...barrierStates),
  epoch: number(1),
  arrivals: number(),
  target: number(1),
  createdAt: time().of((get) => momentOfId(get('id'))),
  releasedAt: time().orNull(),
});
