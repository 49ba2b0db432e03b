/** The place in the URL's fragment: a page of a space, what it shows, and its filters. Never a key. */
export interface PageRef {
  readonly spaceId: string | undefined;
  /** '' for the overview. */
  readonly page: string;
  /** Of what the page shows. */
  readonly id: string | undefined;
  readonly query: URLSearchParams;
}

const uuid = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})';
const form = new RegExp(`^#/space/${uuid}(?:/([a-z]+)(?:/${uuid})?)?(?:\\?(.*))?$`, 'i');
const one = new RegExp(`^${uuid}$`, 'i');

export function isUuid(text: string): boolean {
  return one.test(text);
}

/** Parses a fragment; that of no space if it is invalid. */
export function placeOf(hash: string): PageRef {
  const [, spaceId, page = '', id, query] = form.exec(hash) ?? [];
  return {
    spaceId: spaceId?.toLowerCase(),
    page: page.toLowerCase(),
    id: id?.toLowerCase(),
    query: new URLSearchParams(query),
  };
}

/** Filters that are empty are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** `?a=b`, or nothing. */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** The address of a page: `message/<id>`, or '' for the overview. */
export function address(spaceId: string, page = '', query: Query = {}): string {
  return `#/space/${spaceId}${page === '' ? '' : `/${page}`}${queryText(query)}`;
}
