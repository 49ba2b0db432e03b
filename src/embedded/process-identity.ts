import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A process told apart from any later one that reuses its pid, even after a reboot: `<pid>-<when it started>`.
 * It has only characters that a file name may have.
 */
export type ProcessIdentity = string;

/**
 * The identity of a running process; null if there is none with that pid, or only its zombie.
 */
export function identify(pid: number): ProcessIdentity | null {
  const started = linuxStart(pid) ?? psStart(pid);
  return started ? `${pid}-${started.replace(/[^0-9A-Za-z]+/g, '_')}` : null;
}

/**
 * The identity of this very process.
 */
export function self(): ProcessIdentity {
  return identify(process.pid) ?? `${process.pid}-unknown`;
}

/** The pid that the identity begins with. */
export function pidOf(identity: ProcessIdentity): number {
  return Number.parseInt(identity, 10);
}

/** Whether that very process runs still. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identify(pidOf(identity)) === identity || identity === self();
}

/** Clock ticks since boot, and which boot; '' when the process is gone, undefined where there is no /proc. */
function linuxStart(pid: number): string | undefined {
  let boot: string;
  try {
    boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
  } catch {
    return undefined;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may itself have spaces and brackets.
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
