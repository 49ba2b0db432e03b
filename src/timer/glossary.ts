import type { Glossary } from '../http/openapi/glossary.ts';

/** What the figures of timers mean. */
export const timerGlossary: Glossary = {
  armedTimers: 'how many deadlines, delays and other moments are still ahead',
  timers: 'deadlines, delays and other moments that are still ahead',
};
