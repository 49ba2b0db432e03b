import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies a process even after its pid is reused or the machine reboots: `<pid>-<start time>`. Safe in a file name. */
export type ProcessIdentity = string;

/** The identity of a running process; null if there is none with that pid, or only a zombie. */
export function identify(pid: number): ProcessIdentity | null {
  const started = linuxStart(pid) ?? psStart(pid);
  return started ? `${pid}-${started.replace(/[^0-9A-Za-z]+/g, '_')}` : null;
}

/** The identity of this process. */
export function self(): ProcessIdentity {
  return identify(process.pid) ?? `${process.pid}-unknown`;
}

/** The pid at the start of the identity. */
export function pidOf(identity: ProcessIdentity): number {
  return Number.parseInt(identity, 10);
}

/** Whether the process is still running. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(pidOf(identity)) === identity || identity === self();
}

/** Boot id and clock ticks since boot; '' when the process is gone, undefined without /proc. */
function linuxStart(pid: number): string | undefined {
  let boot: string;
  try {
    boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
  } catch {
    return undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program's name in parentheses, may contain spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? '' : `${boot}_${fields[19]}`;
  } catch {
    return '';
  }
}

function psStart(pid: number): string {
  try {
    const options = { encoding: 'utf8', env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' }, stdio: 'pipe' } as const;
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], options).trim();
  } catch {
    return '';
  }
}
