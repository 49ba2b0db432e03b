import type { Call } from './caller.ts';

export type Answer = Record<string, string>;

export interface Operation {
  /** As the usage record and the OpenAPI document call it. */
  name: string;
  /** Some calls only prepare others. */
  kind: 'write' | 'read' | 'aside';
  times: number;
  call(i: number): Call;
  keep: ((answer: Answer) => void) | undefined;
}

const MOST_READS = 500;

export const post = (path: string, body: unknown = {}): Call => ({ method: 'POST', path, body });
const get = (path: string): Call => ({ method: 'GET', path });

/** The calls in their order. Answers are kept in arrays that later calls read. */
export class Sequence {
  readonly list: Operation[] = [];
  readonly times: number;
  readonly scopeId = crypto.randomUUID();

  constructor(times: number) {
    this.times = times;
  }

  /** Unique over all runs; ends in `-<i>`. */
  newName(i: number): string {
    return `${this.scopeId}-${i}`;
  }

  measure(name: string, call: Operation['call'], keep?: Operation['keep'], times = this.times): void {
    this.list.push({ name, kind: 'write', times, call, keep });
  }

  aside(times: number, call: Operation['call'], keep?: Operation['keep']): void {
    this.list.push({ name: 'aside', kind: 'aside', times, call, keep });
  }

  read(name: string, path: () => string): void {
    this.list.push({
      name,
      kind: 'read',
      times: Math.min(this.times, MOST_READS),
      call: () => get(path()),
      keep: undefined,
    });
  }
}
