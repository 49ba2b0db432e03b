import { toApiError } from '../../engine/call/refusal.ts';
import { ApiError, commonErrors, invalidApiKey } from '../../engine/route/errors.ts';
import { isUuid } from '../../engine/route/fields.ts';
import type { Match, Step } from '../http/context.ts';
import { TokenRefused } from './issuer.ts';
import { metadataPath } from './resource.ts';
import type { Tokens } from './tokens.ts';

/** The form of a JWT. No API key contains a dot. */
const bearer = /^bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i;

/** Identifies a caller by its token. For an OAuth resource, a 401 says where clients sign in. */
export function identify(tokens: Tokens, publicUrl: string): Step {
  return async ({ req, state }, next) => {
    const path = resourceOf(state.match);
    try {
      const token = bearer.exec(req.headers.authorization ?? '')?.[1];
      if (token !== undefined) state.caller = await tokens.callerOf(token, path && publicUrl + path);
      await next();
    } catch (thrown) {
      if (thrown instanceof TokenRefused) state.reason = `token refused: ${thrown.message}`;
      const error = thrown instanceof TokenRefused ? invalidApiKey() : thrown;
      throw path === undefined ? error : challenge(error, publicUrl + metadataPath + path);
    }
  };
}

/** The path, if it is an OAuth resource. */
function resourceOf(match: Match | undefined): string | undefined {
  const { spaceId = '' } = match?.params ?? {};
  return match?.handler.isResource && isUuid(spaceId) ? match.handler.pattern.replace(':spaceId', spaceId) : undefined;
}

/** Adds the address of the resource's metadata to a 401 (RFC 9728, 5.1). */
function challenge(thrown: unknown, metadata: string): unknown {
  const error = toApiError(thrown, commonErrors);
  if (error.status !== 401) return thrown;
  const { status, code, message, headers } = error;
  const scheme = headers['WWW-Authenticate'] ?? 'Bearer';
  const parameter = `${scheme === 'Bearer' ? '' : ','} resource_metadata="${metadata}"`;
  return new ApiError(status, code, message, { ...headers, 'WWW-Authenticate': scheme + parameter });
}
