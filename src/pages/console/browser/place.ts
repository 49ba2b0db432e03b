/** A place in the console, as in the URL's fragment: a page of a space, the object shown, and filters. Never a key. */
export interface PageRef {
  readonly spaceId: string | undefined;
  /** '' for the overview. */
  readonly page: string;
  /** The id of the object that the page shows. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
}

const uuid = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})';
const form = new RegExp(`^#/space/${uuid}(?:/([a-z]+)(?:/${uuid})?)?(?:\\?(.*))?$`, 'i');
const one = new RegExp(`^${uuid}$`, 'i');

export function isUuid(text: string): boolean {
  return one.test(text);
}

/** Parses a fragment. For an invalid one, the place has no space. */
export function placeOf(hash: string): PageRef {
  const [, spaceId, page = '', id, query] = form.exec(hash) ?? [];
  return {
    spaceId: spaceId?.toLowerCase(),
    page: page.toLowerCase(),
    id: id?.toLowerCase(),
    query: new URLSearchParams(query),
  };
}

/** Filters by name; empty ones are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** `?a=b`, or nothing. */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** The fragment that leads to a page. page: for example `message/<id>`, or '' for the overview. */
export function address(spaceId: string, page = '', query: Query = {}): string {
  return `#/space/${spaceId}${page === '' ? '' : `/${page}`}${queryText(query)}`;
}
