import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { checkDeclared, plainly } from '../../support/declared.ts';
import type { Reply } from '../../support/world.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly const?: unknown;
  readonly $ref?: string;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}
/** The envelope of errors, then the codes of this call. */
interface Failing {
  readonly allOf?: readonly { properties?: { error: { properties: { code: Schema } } } }[];
}

interface Response {
  readonly $ref?: string;
  readonly content?: { 'application/json'?: { schema: Failing } };
}
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: readonly { name: string; schema: Schema }[];
  readonly body: Schema | undefined;
  readonly hasKey: boolean;
  readonly responses: Readonly<Record<string, Response>>;
}
interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface RawOperation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } };
  readonly responses: Record<string, Response>;
}
interface Raw {
  readonly paths: Record<string, Record<string, RawOperation>>;
  readonly components: { responses: Record<string, Response>; schemas: Record<string, Schema> };
}

/** /openapi.json as a client gets it: possible requests and their possible answers. */
export class Document {
  readonly operations: readonly Operation[];
  readonly #ajv = new Ajv2020(plainly);
  readonly #compiled = new Map<string, ValidateFunction>();

  private constructor(raw: Raw) {
    // ajv-formats exports its function as a property of itself.
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addSchema({ $id: 'https://muster/', ...raw });
    this.operations = Object.entries(raw.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId, parameters = [], requestBody, responses }]) => ({
        id: operationId,
        method: method.toUpperCase(),
        path,
        query: parameters.filter((parameter) => parameter.in === 'query'),
        body: resolved(requestBody?.content['application/json'].schema, raw),
        hasKey: parameters.some(({ $ref }) => $ref?.endsWith('IdempotencyKey')),
        responses: Object.fromEntries(
          Object.entries(responses).map(([status, one]) => {
            const shared = raw.components.responses[one.$ref?.split('/').at(-1) ?? ''];
            return [status, shared ? { ...shared, $ref: one.$ref ?? '' } : one];
          }),
        ),
      })),
    );
  }

  static async fetch(url: string): Promise<Document> {
    return new Document((await (await fetch(`${url}/openapi.json`)).json()) as Raw);
  }

  /** The operation of a request, if there is one. */
  find(method: string, target: string): Operation | undefined {
    const segments = (target.split(/[?#]/, 1)[0] ?? '').split('/');
    const wanted = method === 'HEAD' ? 'GET' : method;
    return this.operations.find((one) => {
      const parts = one.path.split('/');
      const fits = parts.every((part, i) => part === segments[i] || (part.startsWith('{') && segments[i] !== ''));
      return one.method === wanted && parts.length === segments.length && fits;
    });
  }

  /** Every declared outcome: operation, status and, for a failure, its code. */
  pairs(): string[] {
    return this.operations.flatMap(({ id, responses }) =>
      Object.entries(responses).flatMap(([status, response]) =>
        Number(status) < 400 ? [`${id} ${status}`] : codesOf(response).map((code) => `${id} ${status} ${code}`),
      ),
    );
  }

  /** Throws if an answer is not declared, or does not match its schema. */
  check(method: string, target: string, reply: Reply): void {
    const operation = this.find(method, target);
    const fail = (why: string): never => {
      throw new Error(`${method} ${target}\nanswered ${reply.status} ${reply.text}\n${why}`);
    };
    if (reply.status >= 500) fail('never a failure of ours');
    checkDeclared(method, target, reply, { published: false });
    if (!operation || reply.text === '') return;
    const response = operation.responses[reply.status];
    if (!response) fail(`${operation.id} does not declare ${reply.status}`);
    else if (reply.status >= 400 && !codesOf(response).includes(reply.body.error.code))
      fail('the code is not declared');
    const validate = this.#schema(operation, reply.status, response?.$ref);
    if (!validate(reply.body)) fail(this.#ajv.errorsText(validate.errors));
  }

  /** Whether it is the name of a call that only reads. */
  isRead(call: unknown): boolean {
    return this.operations.some(({ id, method }) => id === call && method === 'GET');
  }

  /**
   * Throws if the result of a call in a batch is not a possible answer of its single request; `call`: as sent. isAtomic: a read
   * shows its record without lists.
   */
  checkResult(call: unknown, { status, body, ...rest }: { status: number; body: unknown }, isAtomic = false): void {
    const operation = this.operations.find(({ id }) => id === call);
    const response = operation?.responses[status];
    const text = JSON.stringify({ status, body, ...rest });
    const fail = (why: string): never => {
      throw new Error(`${JSON.stringify(call)} in a batch\nanswered ${text}\n${why}`);
    };
    const { error } = (body ?? {}) as { error?: { code: string } };
    if (!operation || error?.code === 'VALIDATION_FAILED') {
      if (status !== 400) fail('it is no call of a batch');
      return;
    }
    if (!response) fail('the status is not declared');
    else if (error && status >= 400 && !codesOf(response).includes(error.code)) fail('the code is not declared');
    if (body === null ? response?.content !== undefined : !response?.content) fail('a body, or none');
    // Without content there is no schema.
    if (isAtomic && this.isRead(call)) return;
    const validate = body === null ? undefined : this.#schema(operation, status, response?.$ref);
    if (validate && !validate(body)) fail(this.#ajv.errorsText(validate.errors));
    if ((status === 429) !== 'retryAfter' in rest) fail('retryAfter is of a 429');
  }

  #schema({ path, method }: Operation, status: number, $ref: string | undefined): ValidateFunction {
    const at = $ref?.slice(2).split('/') ?? ['paths', path, method.toLowerCase(), 'responses', String(status)];
    const parts = [...at, 'content', 'application/json', 'schema'];
    const pointer = parts.map((part) => encodeURIComponent(part.replaceAll('/', '~1'))).join('/');
    const validate = this.#compiled.get(pointer) ?? this.#ajv.compile({ $ref: `https://muster/#/${pointer}` });
    this.#compiled.set(pointer, validate);
    return validate;
  }
}

/** A schema with the references inside its lists resolved: the calls of a batch. */
function resolved(schema: Schema | undefined, raw: Raw): Schema | undefined {
  const target = raw.components.schemas[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema;
  const { properties, items, oneOf } = target ?? {};
  const all = Object.entries(properties ?? {}).map(([name, one]) => [name, resolved(one, raw)] as const);
  return (
    target && {
      ...target,
      ...(properties && { properties: Object.fromEntries(all) as Record<string, Schema> }),
      ...(items && { items: resolved(items, raw) as Schema }),
      ...(oneOf && { oneOf: oneOf.map((one) => resolved(one, raw) as Schema) }),
    }
  );
}

function codesOf(response: Response): string[] {
  return (response.content?.['application/json']?.schema.allOf?.[1]?.properties?.error.properties.code.enum ??
    []) as string[];
}
