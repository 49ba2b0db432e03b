/** The timing of a schedule: an interval since its creation, or multiples of minutes that divide an hour. */
export type Timing = { readonly everySeconds: number } | { readonly minutes: number };

/** How a schedule behaves, moment by moment. */
export class ScheduleModel {
  readonly createdAt: number;
  timing: Timing;
  state: 'ACTIVE' | 'PAUSED' | 'ENDED' = 'ACTIVE';
  nextAt: number | null;
  lastAt: number | null = null;
  missed = 0;
  /** The moments that sent a message, and the number of triggers that did. */
  readonly sent = new Set<number>();
  triggers = 0;

  constructor(timing: Timing, now: number) {
    this.timing = timing;
    this.createdAt = now;
    this.nextAt = this.#after(now);
  }

  /** Fires what is due: the last moment sends, unless it has before; the others are missed. */
  fire(now: number): void {
    if (this.nextAt === null || this.nextAt > now) return;
    let last = this.nextAt;
    for (let at = this.#after(last); at <= now; at = this.#after(at)) {
      this.missed++;
      last = at;
    }
    if (!this.sent.has(last)) this.lastAt = last;
    this.sent.add(last);
    this.nextAt = this.#after(last);
  }

  /** Returns `200` or an error code. */
  change(now: number, asked: { readonly timing?: Timing; readonly state?: 'ACTIVE' | 'PAUSED' }): string {
    if (this.state === 'ENDED') return 'SCHEDULE_ENDED';
    this.fire(now);
    const { timing = this.timing, state = this.state } = asked;
    const isSame = JSON.stringify(timing) === JSON.stringify(this.timing) && state === this.state;
    if (isSame) return '200';
    this.timing = timing;
    this.state = state;
    this.nextAt = state === 'ACTIVE' ? this.#after(now) : null;
    return '200';
  }

  trigger(now: number): string {
    if (this.state === 'ENDED') return 'SCHEDULE_ENDED';
    this.fire(now);
    this.lastAt = now;
    this.triggers++;
    return '200';
  }

  end(): void {
    this.state = 'ENDED';
    this.nextAt = null;
  }

  #after(moment: number): number {
    const { timing, createdAt } = this;
    if ('minutes' in timing) {
      const ms = timing.minutes * 60_000;
      return (Math.floor(moment / ms) + 1) * ms;
    }
    let at = createdAt + timing.everySeconds * 1000;
    while (at <= moment) at += timing.everySeconds * 1000;
    return at;
  }
}
