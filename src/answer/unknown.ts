/** How many links that lead nowhere a process answers in a second: nobody needs more of them. */
const maxInSecond = 10;

/** Counts links that lead nowhere. */
export class UnknownLinks {
  #second = 0;
  #count = 0;

  /** Counts one; whether there were too many in this second. */
  add(now = performance.now()): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) [this.#second, this.#count] = [second, 0];
    this.#count++;
    return this.#count > maxInSecond;
  }
}
