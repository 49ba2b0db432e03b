import type { Api } from '../api.ts';
import type { SpaceState } from '../space-state.ts';

/** A part of the page that shows one response of the API. */
export interface Panel {
  /** The id of its element. */
  readonly id: string;
  readonly path: string;
  /** Set if the panel needs more than one read of `path`. */
  readonly read: ((api: Api, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Events of these aggregates make it stale. */
  readonly hears: readonly string[];
  /** Minimum refresh interval when stale, and maximum otherwise. */
  readonly everySeconds: number;
  readonly idleSeconds: number;
  /** Takes from the response what other panels need. */
  readonly learn: (answer: never, world: SpaceState) => void;
  readonly render: (answer: never, world: SpaceState) => Node[];
}

type Definition<T> = Omit<Panel, 'read' | 'learn' | 'render' | 'everySeconds' | 'idleSeconds'> & {
  read?: (api: Api, signal: AbortSignal) => Promise<T>;
  everySeconds?: number;
  idleSeconds?: number;
  learn?: (answer: T, world: SpaceState) => void;
  render: (answer: T, world: SpaceState) => Node[];
};

export function panel<T>(definition: Definition<T>): Panel {
  return {
    everySeconds: 8,
    idleSeconds: 60,
    read: undefined,
    learn: () => undefined,
    ...definition,
  } as unknown as Panel;
}
