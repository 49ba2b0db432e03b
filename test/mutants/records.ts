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

type Outcomes = Record<string, Outcome>;
type Tests = Record<string, Found & { readonly soundHash?: string }>;

const read = <T>(file: string): T | undefined =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : undefined;

function write(file: string, content: unknown): void {
  writeFileSync(`${file}.${process.pid}.new`, JSON.stringify(content, null, 1));
  renameSync(`${file}.${process.pid}.new`, file);
}

/**
 * What earlier runs have found, in `.mutants/`: a run carries on where the last one stopped. A mutant's death holds while its
 * file and the test file that failed are the same, its survival while no test file of its target is another.
 */
export class Records {
  readonly #root: string;
  readonly #file: string;
  readonly #testsFile: string;
  readonly #outcomes: Outcomes;
  /** The tests of all targets. */
  readonly #tests: Tests;
  /** Hashes of files before mutants are planted in them. */
  readonly #hashed = new Map<string, string>();

  constructor(root: string, target: string, folder = join(root, '.mutants')) {
    mkdirSync(folder, { recursive: true });
    this.#root = root;
    this.#file = join(folder, `${target.replace('/', '-')}.json`);
    this.#testsFile = join(folder, 'tests.json');
    this.#outcomes = read<Outcomes>(this.#file) ?? {};
    this.#tests = read<Tests>(this.#testsFile) ?? {};
  }

  #hash(file: string): string {
    const path = join(this.#root, file);
    const hash = this.#hashed.get(file) ?? (existsSync(path) ? hashOf(readFileSync(path, 'utf8')) : '');
    this.#hashed.set(file, hash);
    return hash;
  }

  #hashes(files: readonly string[]): string {
    return hashOf(files.map((file) => `${file} ${this.#hash(file)}`).join('\n'));
  }

  outcome(mutant: Mutant, tests: readonly string[]): Outcome | undefined {
    const found = this.#outcomes[nameOf(mutant)];
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
    this.#outcomes[nameOf(mutant)] = outcome;
    write(this.#file, this.#outcomes);
    return outcome;
  }

  /** How often each test file killed a mutant of this file. */
  killers(file: string): Map<string, number> {
    const found = new Map<string, number>();
    for (const [name, { test }] of Object.entries(this.#outcomes))
      if (test !== undefined && name.startsWith(`${file}\n`)) found.set(test, (found.get(test) ?? 0) + 1);
    return found;
  }

  /** The last result of a test file that passed, with a mutant that it let live or without one. */
  measured(test: string): Found | undefined {
    return this.#tests[test];
  }

  measure(test: string, found: Found): void {
    this.#tests[test] = { ...this.#tests[test], ...found };
    write(this.#testsFile, this.#tests);
  }

  /** Whether the test file, as it is, has passed. */
  isSound(test: string): boolean {
    return this.#tests[test]?.soundHash === this.#hash(test);
  }

  keepSound(test: string): void {
    const found = this.#tests[test];
    if (found) this.#tests[test] = { ...found, soundHash: this.#hash(test) };
    write(this.#testsFile, this.#tests);
  }
}
