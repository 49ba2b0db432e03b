import { id, momentOfId, number, state, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';

export const barrierStates = ['OPEN', 'RELEASED', 'CANCELLED'] as const;

export const Barrier = record('Barrier', {
  id: id().forModels('id of the barrier, from its creator'),
  scopeId: id(),
  state: state('barriers', ...barrierStates),
  epoch: number(1).means('the current round, from 1; nextEpoch begins another'),
  arrivals: number().means('the number of arrivals in this epoch'),
  target: number(1).means('the number of arrivals that release it').example(3),
  createdAt: time().of((get) => momentOfId(get('id'))),
  releasedAt: time().orNull().means('when it was released, or null if it is not released'),
});
