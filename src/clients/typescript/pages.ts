/** A page of a list, whose items are under the list's name. */
type Page = Readonly<Record<string, unknown>> & { readonly nextCursor: string | null };

/**
 * The items of all pages, in order. Throws if a page cannot be read, for example because it is damaged. The journal's cursor
 * never ends, so its iteration ends at the first empty page.
 */
export async function* itemsOf<T>(
  name: string,
  read: (cursor: { readonly cursor?: string }) => Promise<unknown>,
): AsyncGenerator<T, void> {
  for (let after: { readonly cursor?: string } = {}; ; ) {
    const page = (await read(after)) as Page;
    const items = page[name] as readonly T[];
    yield* items;
    if (page.nextCursor === null || (items.length === 0 && name === 'events')) return;
    after = { cursor: page.nextCursor };
  }
}
