// Processor time, user and system, from /proc, in ticks of 10 ms. Linux only; NaN elsewhere, which prints as "-".
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MICROS = 10_000;
/**
 * Positions in /proc/<pid>/stat after the name: the parent, the process's user and system time, and the times of its
 * ended children.
 */
const PARENT = 1;
const OWN = [11, 12];
const ENDED = [13, 14];

function fields(pid: number | string): number[] {
  // The name is in parentheses and may hold anything.
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

function micros(list: number[], places: number[]): number {
  return places.reduce((sum, place) => sum + (list[place] ?? 0), 0) * TICK_MICROS;
}

/** The processor time of one process. */
export function cpuMicros(pid: number): number {
  try {
    return micros(fields(pid), OWN);
  } catch {
    return Number.NaN;
  }
}

/**
 * The processor time of a process and of all processes below it, such as PostgreSQL's, including those that have ended.
 */
export function familyCpuMicros(pid: number): number {
  try {
    const all = new Map<number, number[]>();
    for (const name of readdirSync('/proc')) {
      if (/^\d+$/.test(name)) all.set(Number(name), fieldsOrNone(name));
    }
    const family = new Set([pid]);
    for (let before = 0; before < family.size; ) {
      before = family.size;
      for (const [child, list] of all) if (family.has(list[PARENT] ?? 0)) family.add(child);
    }
    return [...family].reduce((sum, member) => sum + micros(all.get(member) ?? [], [...OWN, ...ENDED]), 0);
  } catch {
    return Number.NaN;
  }
}

/** A process may end between the listing and the reading. */
function fieldsOrNone(pid: string): number[] {
  try {
    return fields(pid);
  } catch {
    return [];
  }
}
