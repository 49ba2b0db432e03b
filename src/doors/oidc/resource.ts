import type { Step } from '../http/context.ts';
import { readOnly } from '../http/probes.ts';

/** The prefix; the path of a resource follows. */
export const metadataPath = '/.well-known/oauth-protected-resource';

const form = new RegExp(`^${metadataPath}(/v1/spaces/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/mcp)$`, 'i');

interface Facts {
  readonly issuer: string;
  readonly scope: string;
  readonly publicUrl: string;
}

/** The metadata of a space's MCP address (RFC 9728). It is the same for every space, existing or not. */
export function resourceMetadata({ issuer, scope, publicUrl }: Facts): Step {
  return async (ctx, next) => {
    const [, path] = form.exec(ctx.path) ?? [];
    if (path === undefined) return next();
    readOnly(ctx, `${metadataPath}/v1/spaces/:spaceId/mcp`);
    const metadata = {
      resource: publicUrl + path,
      authorization_servers: [issuer],
      scopes_supported: scope.split(' '),
      bearer_methods_supported: ['header'],
      resource_name: 'Muster',
      resource_documentation: `${publicUrl}/docs/mcp`,
    };
    // It is public, so clients in browsers may read it.
    const headers = { 'Access-Control-Allow-Origin': '*' };
    ctx.state.answer = { status: 200, headers, text: JSON.stringify(metadata) };
  };
}
