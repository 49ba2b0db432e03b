/** Not every job is in the mailbox. */
export class ImportIncomplete extends Error {
  readonly code = 'IMPORT_INCOMPLETE';
  constructor(messages: number, jobs: number) {
    super(
      `${messages} of ${jobs} jobs are in the mailbox: see those that are left above, or run the import again if jobs were added meanwhile`,
    );
  }
}
