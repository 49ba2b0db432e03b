import { connect, type Store } from '../../src/engine/redis/connection.ts';

/** The ids of a store's clients, except this one. */
export async function clients(url: string): Promise<Set<string>> {
  const store = await connect(url);
  try {
    return new Set(await otherClients(store));
  } finally {
    store.disconnect();
  }
}

export async function otherClients(store: Store): Promise<string[]> {
  const [list, ownId] = await Promise.all([store.call('CLIENT', 'LIST'), store.call('CLIENT', 'ID')]);
  const ids = [...String(list).matchAll(/^id=(\d+)/gm)].map(([, id = '']) => id);
  return ids.filter((id) => id !== String(ownId));
}
