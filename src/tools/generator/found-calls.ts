import type { FoundCall } from '../../pages/docs/render/site.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
}

/** The document's calls for the search of /docs, which links to the API reference. */
export function callsIn(document: object): FoundCall[] {
  const { paths } = document as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description = '', tags }]) => ({
      name: operationId,
      text: `${method.toUpperCase()} ${path} ${summary}. ${description}`,
      anchor: `#tag/${tags[0]}/${operationId}`,
    })),
  );
}
