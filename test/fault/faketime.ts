import { readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram, type ProgramKind } from '../../src/external-programs/find.ts';

const faketime: ProgramKind = {
  label: 'faketime',
  wanted: 'faketime',
  variable: 'FAKETIME_PROGRAM',
  names: ['faketime'],
  packages: ['faketime', 'libfaketime'],
  path: 'usr/bin/faketime',
  versionIn: (printed) => {
    const version = /\bVersion (\d+[\d.]*)/i.exec(printed)?.[1];
    if (!version) throw new Error('its --version is not that of faketime');
    return version;
  },
  whatToDo: 'install faketime, or set FAKETIME_PROGRAM to its program',
};

const project = fileURLToPath(new URL('../../.faketime', import.meta.url));

/** The wall clock of a process that is started with `env`, to be set while it runs. */
export class SettableClock {
  readonly env: NodeJS.ProcessEnv;
  readonly #file: string;

  private constructor(library: string, file: string) {
    this.#file = file;
    this.env = {
      // Some allocators read the time while they start, and libfaketime allocates memory while it starts, so they would
      // wait for each other. The second library brings the C library's own allocator, which avoids that.
      LD_PRELOAD: `${library}:libc_malloc_debug.so.0`,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      // On a real machine, too, setting the wall clock does not affect the monotonic clock.
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** With faketime from PATH or the distribution's packages, fetched once into `.faketime/`. */
  static async in(folder: string): Promise<SettableClock> {
    const log = (line: string): void => console.log(`      ${line}`);
    const { command } = await findProgram(faketime, { log, env: process.env, folder: project });
    const libraries = join(dirname(command), '../lib');
    const found = (await readdir(libraries, { recursive: true })).find((name) => name.endsWith('/libfaketimeMT.so.1'));
    if (!found) throw new Error(`no libfaketimeMT.so.1 below ${libraries}`);
    const clock = new SettableClock(join(libraries, found), join(folder, 'clock'));
    await clock.set(0);
    return clock;
  }

  /** Sets the clock this many seconds ahead of the true time. */
  async set(aheadSeconds: number): Promise<void> {
    // A half-written file would be read as another time.
    await writeFile(`${this.#file}.next`, `+${aheadSeconds}\n`);
    await rename(`${this.#file}.next`, this.#file);
  }
}
