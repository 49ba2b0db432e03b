import { getEventListeners } from 'node:events';

/** How much hangs on a signal: its listeners, and what Node itself keeps with it (AbortSignal.any, until it is gone). */
export function hangsOn(signal: AbortSignal): number {
  const own = Object.getOwnPropertySymbols(signal).map((symbol) => Reflect.get(signal, symbol));
  const kept = own.reduce((sum: number, value) => sum + (Number(value?.size) || 0), 0);
  return kept + getEventListeners(signal, 'abort').length;
}
