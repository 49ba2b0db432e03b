/** Whether this is `npm run test:long`. */
export const isLong = process.env['LONG'] === '1';

/** A count for a test: small in `npm test`, large in `npm run test:long`. */
export const many = (some: number, much: number): number => (isLong ? much : some);

/** The time limit of such a test. */
export const longMs = many(180_000, 1_800_000);
