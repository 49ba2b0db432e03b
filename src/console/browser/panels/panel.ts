import type { World } from '../world.ts';

/** A part of the page that shows one answer of the API. */
export interface Panel {
  /** Of the element that holds it. */
  readonly id: string;
  readonly path: string;
  /** Events of these aggregates make its answer old. */
  readonly hears: readonly string[];
  /** It is read again this soon at most when it is old, and this late at most when it is not. */
  readonly everySeconds: number;
  readonly idleSeconds: number;
  /** Takes from the answer what other panels show too. */
  readonly learn: (answer: never, world: World) => void;
  readonly render: (answer: never, world: World) => Node[];
}

type Definition<T> = Omit<Panel, 'learn' | 'render' | 'everySeconds' | 'idleSeconds'> & {
  everySeconds?: number;
  idleSeconds?: number;
  learn?: (answer: T, world: World) => void;
  render: (answer: T, world: World) => Node[];
};

export function panel<T>(definition: Definition<T>): Panel {
  return { everySeconds: 8, idleSeconds: 60, learn: () => undefined, ...definition } as unknown as Panel;
}
