import type { MusterError } from '../error.ts';
import { lineOf } from './errors.ts';

/** If nobody listens for errors, prints a line when an outage begins and one when it ends. */
export class Outage {
  readonly #holder: string;
  #begunAt: number | undefined;

  constructor(holder: string) {
    this.#holder = holder;
  }

  begins({ code, message }: MusterError): void {
    if (this.#begunAt !== undefined) return;
    this.#begunAt = performance.now();
    const why = lineOf(`${code}: ${message}`);
    console.error(`${this.#holder}: the service is unavailable, retrying: ${why}`);
  }

  ends(): void {
    if (this.#begunAt === undefined) return;
    const seconds = Math.ceil((performance.now() - this.#begunAt) / 1000);
    this.#begunAt = undefined;
    console.error(`${this.#holder}: the service is available again after ${seconds} s`);
  }
}
