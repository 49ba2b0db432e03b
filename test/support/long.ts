/** How much of something a test tries: some in `npm test`, much in `npm run test:long`. */
export const many = (some: number, much: number): number => (process.env['LONG'] === '1' ? much : some);

/** Time for it. */
export const longMs = many(180_000, 1_800_000);
