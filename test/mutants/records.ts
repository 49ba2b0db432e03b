import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashOf, type Mutant, nameOf } from './mutant.ts';
import type { Found } from './runner.ts';

export type Fate = 'died' | 'survived' | 'invalid';

/** What became of a mutant, and of which files' texts that is true. */
export interface Outcome {
  readonly fate: Fate;
  /** The hash of the mutated file as it was without the change. */
  readonly source: string;
  /** The test that failed, and its file. */
  readonly by?: string;
  readonly test?: string;
  /** Of that file, or of all files that let it live. */
  readonly tests: string;
}

interface Kept {
  outcomes: Record<string, Outcome>;
  /** The tests without a mutant. */
  tests: Record<string, Found & { hash: string }>;
}

/**
 * What earlier runs have found, in `.mutants/`: a run carries on where the last one stopped. A mutant's death holds while its
 * file and the test file that failed are the same, its survival while no test file of its target is another.
 */
export class Records {
  readonly #root: string;
  readonly #file: string;
  readonly #kept: Kept;

  constructor(root: string, target: string, folder = join(root, '.mutants')) {
    this.#root = root;
    this.#file = join(folder, `${target.replace('/', '-')}.json`);
    mkdirSync(folder, { recursive: true });
    this.#kept = existsSync(this.#file)
      ? (JSON.parse(readFileSync(this.#file, 'utf8')) as Kept)
      : { outcomes: {}, tests: {} };
  }

  #hash(file: string): string {
    const path = join(this.#root, file);
    return existsSync(path) ? hashOf(readFileSync(path, 'utf8')) : '';
  }

  #hashes(files: readonly string[]): string {
    return hashOf(files.map((file) => `${file} ${this.#hash(file)}`).join('\n'));
  }

  outcome(mutant: Mutant, tests: readonly string[]): Outcome | undefined {
    const found = this.#kept.outcomes[nameOf(mutant)];
    if (found?.source !== this.#hash(mutant.file)) return undefined;
    const now = found.test === undefined ? this.#hashes(tests) : this.#hash(found.test);
    return found.fate === 'invalid' || found.tests === now ? found : undefined;
  }

  keep(mutant: Mutant, tests: readonly string[], fate: Fate, test?: string, by?: string): Outcome {
    const outcome = {
      ...{ fate, source: this.#hash(mutant.file) },
      ...(test !== undefined && { test }),
      ...(by !== undefined && { by }),
      tests: test === undefined ? this.#hashes(tests) : this.#hash(test),
    };
    this.#kept.outcomes[nameOf(mutant)] = outcome;
    this.#write();
    return outcome;
  }

  /** How often each test file killed a mutant of this file. */
  killers(file: string): Map<string, number> {
    const found = new Map<string, number>();
    for (const [name, { test }] of Object.entries(this.#kept.outcomes))
      if (test !== undefined && name.startsWith(`${file}\n`)) found.set(test, (found.get(test) ?? 0) + 1);
    return found;
  }

  /** The result of a test file without a mutant, if the file is still the same. */
  unchanged(test: string): Found | undefined {
    const found = this.#kept.tests[test];
    return found?.hash === this.#hash(test) ? found : undefined;
  }

  keepUnchanged(test: string, found: Found): void {
    this.#kept.tests[test] = { ...found, hash: this.#hash(test) };
    this.#write();
  }

  #write(): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(this.#kept, null, 1));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
