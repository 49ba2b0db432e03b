const name = 'muster.key';

/** The key of this tab: gone with the tab, never in the address, a cookie or storage that lasts. */
export const session = {
  get key(): string | undefined {
    return sessionStorage.getItem(name) ?? undefined;
  },
  set key(key: string | undefined) {
    if (key === undefined) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, key);
  },
};
