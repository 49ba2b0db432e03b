import type { Sample } from '../protocol.ts';
import { measure } from '../thread.ts';

class Metric {
  readonly #metric: string;
  readonly #kind: Sample['kind'];
  constructor(metric: string, kind: Sample['kind']) {
    this.#metric = metric;
    this.#kind = kind;
  }

  add(value: number | boolean): void {
    measure({ metric: this.#metric, kind: this.#kind, value: Number(value), tags: {} });
  }
}

export class Counter extends Metric {
  constructor(name: string) {
    super(name, 'counter');
  }
}

export class Rate extends Metric {
  constructor(name: string) {
    super(name, 'rate');
  }
}
