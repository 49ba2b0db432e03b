// Memory figures from /proc. Linux only.
import { readFileSync } from 'node:fs';

/** The resident set of a process; NaN if it is unknown. */
export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}
