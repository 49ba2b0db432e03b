/**
 * Holds drawing back while the main button of the mouse, a finger or a pen is down. A click counts only if what is pressed
 * is still there, in the same place, when it is let go. A menu that another button opens may keep its release to itself.
 */
class Press {
  #isDown = false;
  /** The newest drawing of each place. */
  readonly #held = new Map<string, () => void>();

  constructor() {
    addEventListener('pointerdown', ({ button }) => (this.#isDown ||= button === 0), true);
    // The click follows in the same task.
    for (const end of ['pointerup', 'pointercancel'])
      addEventListener(end, () => setTimeout(() => this.#release()), true);
  }

  draw(place: string, drawing: () => void): void {
    if (this.#isDown) this.#held.set(place, drawing);
    else drawing();
  }

  /** Forgets what was held back, because the page is another. */
  forget(): void {
    this.#held.clear();
  }

  #release(): void {
    this.#isDown = false;
    const held = [...this.#held.values()];
    this.#held.clear();
    for (const drawing of held) drawing();
  }
}

export const press = new Press();
