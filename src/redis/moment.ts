/** The moment at which a script made an id (lib/id): what is named by one has no createdAt of its own. */
export function momentOfId(id: unknown): number {
  const [high = '', low = ''] = String(id).split('-', 2);
  return Number.parseInt(high + low, 16);
}
