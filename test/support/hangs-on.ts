import { getEventListeners } from 'node:events';

/** The number of listeners of a signal, plus the dependent signals that Node keeps for it (AbortSignal.any). */
export function hangsOn(signal: AbortSignal): number {
  const lists = Object.getOwnPropertySymbols(signal).map((symbol) => Reflect.get(signal, symbol));
  const kept = lists.reduce((sum: number, value) => sum + (Number(value?.size) || 0), 0);
  return kept + getEventListeners(signal, 'abort').length;
}
