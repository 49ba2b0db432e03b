/** The place in the URL's fragment. It contains a space id, never a key. */
export interface Place {
  readonly spaceId: string | undefined;
  readonly scopeId: string | undefined;
  /** A section of the space's view. */
  readonly section: string | undefined;
}

const uuid = '([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})';
const form = new RegExp(`^#/space/${uuid}(?:/run/${uuid}|/([a-z]+))?$`, 'i');
const one = new RegExp(`^${uuid}$`, 'i');

export function isUuid(text: string): boolean {
  return one.test(text);
}

/** Parses a fragment; all undefined if it is invalid. */
export function placeOf(hash: string): Place {
  const [, spaceId, scopeId, section] = form.exec(hash) ?? [];
  return { spaceId: spaceId?.toLowerCase(), scopeId: scopeId?.toLowerCase(), section: section?.toLowerCase() };
}

export function spaceAddress(spaceId: string, section?: string): string {
  return section === undefined ? `#/space/${spaceId}` : `#/space/${spaceId}/${section}`;
}

export function runAddress(spaceId: string, scopeId: string): string {
  return `#/space/${spaceId}/run/${scopeId}`;
}
