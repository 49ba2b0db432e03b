import { ApiError, apiError } from '../../engine/route/errors.ts';
import { writeCursor } from './cursor.ts';
import { eventErrors } from './errors.ts';
import type { Place } from './segment.ts';

/** The next events of a page are in a damaged segment. The answer has the cursor to continue with after it. */
export class DamagedPage extends ApiError {
  readonly epoch: string;
  readonly place: Place;

  constructor(spaceId: string, epoch: string, place: Place) {
    const { first, last } = place;
    const detail = `${first} ${last} ${writeCursor(spaceId, epoch, last)}`;
    const { status, code, message } = apiError('EVENTS_DAMAGED', detail, {}, eventErrors);
    super(status, code, message);
    this.epoch = epoch;
    this.place = place;
  }
}
