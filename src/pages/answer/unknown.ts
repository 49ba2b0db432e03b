/** How many unknown links a process answers per second. Nobody needs more. */
const maxInSecond = 10;

/** Counts requests for unknown links. */
export class UnknownLinks {
  #second = 0;
  #count = 0;

  /** Counts one. Returns whether there were too many in this second. */
  add(now = performance.now()): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) [this.#second, this.#count] = [second, 0];
    this.#count++;
    return this.#count > maxInSecond;
  }
}
