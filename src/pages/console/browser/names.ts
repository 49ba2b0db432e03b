import { type Api, Failure } from './api.ts';
import { type KindName, kindOf } from './kinds.ts';
import { type Panel, panel } from './panels/panel.ts';
import type { Named, SpaceState } from './space-state.ts';

/** How many names are read at a time. Each is read once. */
const perRead = 8;

interface Found extends Named {
  readonly id: string;
}

async function read(api: Api, [id, kind]: readonly [string, KindName], signal: AbortSignal): Promise<Found> {
  const { path, nameField = 'name' } = kindOf(kind);
  try {
    const record = await api.get<Readonly<Record<string, unknown>> & Omit<Named, 'name'>>(`${path}${id}`, signal);
    const { [nameField]: name, scale, currency } = record;
    return { id, name: typeof name === 'string' ? name : null, scale, currency };
  } catch (error) {
    if (!(error instanceof Failure) || error.isTransient) throw error;
    return { id, name: null };
  }
}

/** Reads the names of objects that pages show by id, because no list that was read contained them. */
export function namesPanel(world: SpaceState): Panel {
  return panel<readonly Found[]>({
    id: 'names',
    path: '',
    hears: [],
    idleSeconds: 2,
    read: (api, signal) => Promise.all(world.unnamed(perRead).map((one) => read(api, one, signal))),
    learn: (found) => {
      for (const { id, ...named } of found) world.name(id, named);
    },
    render: () => [],
  });
}
