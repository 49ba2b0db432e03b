import { getEventListeners } from 'node:events';

/** How many listeners a signal has, and dependent signals that Node keeps with it (AbortSignal.any). */
export function hangsOn(signal: AbortSignal): number {
  const lists = Object.getOwnPropertySymbols(signal).map((symbol) => Reflect.get(signal, symbol));
  const kept = lists.reduce((sum: number, value) => sum + (Number(value?.size) || 0), 0);
  return kept + getEventListeners(signal, 'abort').length;
}
