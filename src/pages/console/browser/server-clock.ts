/** The server's clock, by which ages are measured. */
export const serverClock = {
  aheadMs: 0,
  now(): number {
    return Date.now() + this.aheadMs;
  },
};
