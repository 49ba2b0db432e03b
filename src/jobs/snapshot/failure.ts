type SnapshotCode =
  | 'SNAPSHOT_NOT_FOUND'
  | 'SNAPSHOT_DAMAGED'
  | 'SNAPSHOT_TOO_NEW'
  | 'SNAPSHOT_FAILED'
  | 'SNAPSHOTS_UNAVAILABLE'
  | 'STORE_NOT_EMPTY'
  | 'STORE_RUNNING'
  | 'CLOCK_BEHIND';

/** A snapshot cannot be made, trusted or restored; the message says what to do. */
export class SnapshotFailure extends Error {
  readonly code: SnapshotCode;
  constructor(code: SnapshotCode, message: string) {
    super(message);
    this.code = code;
  }
}
