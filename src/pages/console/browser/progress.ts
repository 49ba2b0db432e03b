import { el } from './dom.ts';
import { count, percent } from './format.ts';
import { badge, bar } from './parts.ts';
import type { Scope } from './records.ts';

/** The messages of a run and of the scopes below it, counted by outcome. */
function progressOf({ live, ended }: Scope) {
  const { acked, rejected, failed, expired, cancelled } = ended;
  const bad = rejected + failed + expired;
  return { acked, bad, cancelled, total: acked + bad + cancelled + live.messages };
}

/** `12 of 20 done, 3 failed`, in words and as a bar. */
export function progress(run: Scope): Element {
  const { acked, bad, cancelled, total } = progressOf(run);
  if (total === 0) return el('span', { class: 'empty' }, 'no message yet');
  const done = `${count(acked)} of ${count(total)} done`;
  const failures = bad === 0 ? null : el('span', { class: 'problem' }, `, ${count(bad)} failed`);
  const stopped = cancelled === 0 ? null : `, ${count(cancelled)} cancelled`;
  const words = `${done}${bad === 0 ? '' : `, ${count(bad)} failed`}`;
  const parts = { settled: percent(acked, total), bad: percent(bad, total) };
  return el('span', {}, done, failures, stopped, bar(words, parts));
}

/** The state of a run as a badge, which is a warning if the run is idle and some of its work has failed. */
export function runState(run: Scope): Element {
  const { bad } = progressOf(run);
  const isUnwell = run.state === 'IDLE' && bad > 0;
  const state = isUnwell ? el('span', { class: 'badge failed' }, 'IDLE, WORK FAILED') : badge(run.state);
  return el('span', {}, state, run.paused ? ' paused' : '');
}
