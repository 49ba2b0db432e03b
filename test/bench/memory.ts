// Linux only: what /proc says of memory.
import { readFileSync } from 'node:fs';

/** The resident set of a process; NaN where that is not known. */
export function residentBytes(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
  } catch {
    return Number.NaN;
  }
}
