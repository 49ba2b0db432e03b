import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { eventUnion } from '../../src/engine/declare/event.ts';
import { openapi } from '../../src/engine/openapi/openapi.ts';
import { isUuid } from '../../src/engine/route/fields.ts';
import { isOfSpace, patternOf, type Route } from '../../src/engine/route/route.ts';
import { codesOf, statusesOf, statusOf } from '../../src/engine/route/route-errors.ts';
import { allErrors, allRoutes, product } from '../../src/primitives/primitives.ts';
import type { Reply } from './world.ts';

/** Codes of requests without a route, or to a path that needs no key. */
const routeless = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'STORE_UNAVAILABLE', 'INTERNAL'];
/** Codes that may come before the check of caller and space, and so lack rate headers. */
const rateless = ['UNAUTHENTICATED', 'INVALID_API_KEY', 'PERMISSION_DENIED', 'SPACE_NOT_FOUND', ...routeless].concat([
  'MALFORMED_JSON',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]);
// ajv-formats exports its function as a property of itself.
const formats = addFormats as unknown as (ajv: Ajv2020) => void;
/**
 * Options for the document's schemas. Another test (test/contract) checks that they are valid. Most schemas are used once or
 * twice, so optimizing their code would take longer than it saves.
 */
export const plainly = {
  strict: false,
  meta: false,
  validateSchema: false,
  inlineRefs: false,
  code: { optimize: false },
};
/** The document for Ajv, which finds the schema of a value by its constants and knows no mapping. */
export const withoutMappings = (document: object) =>
  JSON.parse(JSON.stringify(document, (name, value) => (name === 'mapping' ? undefined : value)));

const ajv = new Ajv2020({ ...plainly, discriminator: true });
formats(ajv);

const patterns = [...allRoutes, ...product.spacelessRoutes]
  .map((route) => ({ route, path: patternOf(route).replaceAll(/:(\w+)/g, '{$1}') }))
  .map(({ route, path }) => ({ route, path, form: new RegExp(`^${path.replaceAll(/{\w+}/g, '[^/]+')}$`) }));
const documentId = 'https://muster/';
const compiled = new Map<string, ValidateFunction>();
const union = eventUnion(product.events);

function routeOf(method: string, url: string): Route | undefined {
  const [path = ''] = url.split('?', 1);
  return patterns.find(({ route, form }) => route.method === method && form.test(path))?.route;
}

/**
 * Throws if a response differs from its route's declaration: status, headers, error code and every field. published: also
 * checks the published schema, unless a caller with the whole document does so itself.
 */
export function checkDeclared(method: string, url: string, reply: Reply, { published = true } = {}): void {
  const route = routeOf(method, url);
  const problem =
    envelopeProblem(reply) ??
    (reply.status < 400 ? successProblem(route, reply, published) : errorProblem(route, reply)) ??
    rateProblem(route, url, reply);
  if (problem === undefined) return;
  throw new Error(`${method} ${url} answered ${reply.status} ${reply.text}\nwhich is not as declared: ${problem}`);
}

/** Throws if an event differs from its type's declaration. */
export function checkEvent(event: unknown): void {
  const { error } = union.validate(event);
  const validate = validatorAt(['components', 'schemas', 'Event']);
  const problem = error?.message ?? (validate(event) ? undefined : ajv.errorsText(validate.errors));
  if (problem !== undefined) throw new Error(`${JSON.stringify(event)} is not as declared: ${problem}`);
}

/** Errors in the parts that every response has. */
function envelopeProblem({ status, headers, text, body }: Reply): string | undefined {
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(headers.get('x-request-id') ?? '')) return 'no X-Request-Id';
  if (headers.get('x-api-version') !== '1') return 'no X-API-Version: 1';
  if (text !== '' && headers.get('content-type') !== 'application/json; charset=utf-8') return 'content type';
  if ((status === 429 || status === 503) && !/^\d+$/.test(headers.get('retry-after') ?? '')) return 'no Retry-After';
  if (status === 401 && !headers.get('www-authenticate')?.startsWith('Bearer')) return 'no WWW-Authenticate';
  if (status < 400 || text === '') return undefined;
  if (Object.keys(body).join() !== 'error') return 'the envelope has one member, error';
  const { reason, ...error } = body.error;
  const isReasoned = typeof reason === 'string' && /^[A-Z]+$/.test(reason);
  if (isReasoned !== (error.code === 'STORE_UNAVAILABLE')) return 'STORE_UNAVAILABLE alone has a reason';
  const members = Object.keys(error).join();
  if (members !== 'code,message,requestId' && members !== 'code,message,requestId,index,call')
    return 'error has code, message, requestId, and in an atomic batch index, call';
  if (body.error.requestId !== headers.get('x-request-id')) return 'requestId is not X-Request-Id';
  if (!/\S/.test(body.error.message) || /undefined|\[object|NaN/.test(body.error.message)) return 'message';
  return undefined;
}

function errorProblem(route: Route | undefined, { status, text, body }: Reply): string | undefined {
  if (text === '') return undefined;
  const { code } = body.error;
  const codes = route ? codesOf(route) : routeless;
  if (!codes.includes(code)) return `${route?.call ?? 'no route'} does not declare ${code}`;
  const right = route ? statusesOf(allErrors, code, route) : [statusOf(allErrors, code, '')];
  return right.includes(status) ? undefined : `${code} is ${right.join(' or ')}`;
}

/** Every authenticated answer carries the rate headers. */
function rateProblem(route: Route | undefined, url: string, { status, headers, body }: Reply): string | undefined {
  if (
    !route ||
    !isOfSpace(route) ||
    !isUuid(url.split('/')[3] ?? '') ||
    (status >= 400 && rateless.includes(body?.error.code))
  )
    return undefined;
  if (!headers.get('ratelimit')?.startsWith('"space";r=')) return 'no RateLimit';
  return headers.get('ratelimit-policy')?.startsWith('"space";q=') ? undefined : 'no RateLimit-Policy';
}

/**
 * Of these replies the declaration refuses more than the schema that is generated from it: integers that are not exact,
 * and events of unknown types. Of all others both refuse the same (test/contract/replies.test.ts), and the schema's
 * compiled code takes a hundredth of the time.
 */
const saysMore = /[[:,]-?\d{16}|"events":\[\{/;

function successProblem(
  route: Route | undefined,
  { status, text, body }: Reply,
  published: boolean,
): string | undefined {
  if (!route) return undefined;
  const reply = route.success[status];
  if (reply === undefined) return `${route.call} does not declare ${status}`;
  if (reply === null) return text === '' ? undefined : 'it has no content';
  const declared = () =>
    reply.validate(body, { convert: false, presence: 'required', allowUnknown: false }).error?.message;
  const validate = published ? publishedSchema(route, status) : undefined;
  if (validate && !validate(body)) return declared() ?? `published schema: ${ajv.errorsText(validate.errors)}`;
  return saysMore.test(text) ? declared() : undefined;
}

/** The reply's schema in /openapi.json. */
function publishedSchema(route: Route, status: number): ValidateFunction {
  const path = patterns.find((one) => one.route === route)?.path ?? '';
  const at = ['paths', path, route.method.toLowerCase(), 'responses', status, 'content', 'application/json', 'schema'];
  return validatorAt(at);
}

let isKnown = false;

/** A validator for the schema at a place of /openapi.json. */
export function validatorAt(at: readonly (string | number)[]): ValidateFunction {
  const pointer = `#/${at.map((part) => encodeURIComponent(String(part).replaceAll('/', '~1'))).join('/')}`;
  if (!isKnown) ajv.addSchema({ $id: documentId, ...withoutMappings(openapi(product)) });
  isKnown = true;
  const validate = compiled.get(pointer) ?? ajv.compile({ $ref: documentId + pointer });
  compiled.set(pointer, validate);
  return validate;
}
