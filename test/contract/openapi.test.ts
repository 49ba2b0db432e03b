import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'chai';
import type Joi from 'joi';
import type { Route } from '../../src/engine/route/route.ts';
import { codesOf, statusesOf } from '../../src/engine/route/route-errors.ts';
import { noTrace } from '../../src/engine/route/trace.ts';
import { allErrors, allRoutes, product } from '../../src/primitives/primitives.ts';
import { checkDeclared, plainly } from '../support/declared.ts';
import { samples } from '../support/sample.ts';
import { api, type Reply, World } from '../support/world.ts';

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  'x-permission': string;
  security?: object[];
  parameters: { $ref?: string; name?: string; in?: string; description?: string }[];
  requestBody?: { content: { 'application/json': { schema: object; example?: unknown } } };
  responses: Record<string, { $ref?: string; description?: string; headers?: object; content?: object }>;
}

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly description?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly discriminator?: { readonly mapping: Readonly<Record<string, string>> };
}

interface Found {
  readonly path: string;
  readonly schema: Schema;
  /** Not a part of another schema, which may have the type of its parts. */
  readonly isWhole: boolean;
}

/** Every schema below a part of the document. depth: the number of schemas around the part; undefined if it is none. */
function* everySchema(part: unknown, path = '', depth?: number): Generator<Found> {
  if (typeof part !== 'object' || part === null) return;
  if (depth !== undefined) yield { path, schema: part, isWhole: depth === 0 };
  const { schema, schemas, properties, items, anyOf, oneOf, allOf, ...others } = part as Record<string, object>;
  const below = depth === undefined ? 0 : depth + 1;
  yield* everySchema(schema, path, below);
  if (items) yield* everySchema(items, `${path}/items`, below);
  for (const all of [schemas, properties, anyOf, oneOf, allOf])
    for (const [name, one] of Object.entries(all ?? {})) yield* everySchema(one, `${path}/${name}`, below);
  if (depth !== undefined) return;
  for (const [name, one] of Object.entries(others)) yield* everySchema(one, `${path}/${name}`);
}

type Content = Record<string, { schema?: object; example?: unknown }>;

/** Of calls that take no fields. */
const emptyBody = '#/components/schemas/EmptyBody';

/** The document, as clients get it. */
let document: {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};
const ajv = new Ajv2020(plainly);
const validators = new Map<string, ValidateFunction>();

/** By a schema of the document. */
function validatorOf(schema: object | undefined): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
  const validate = validators.get(text) ?? ajv.compile(JSON.parse(text));
  validators.set(text, validate);
  return validate;
}

const operationOf = (route: Route): Operation => {
  const path = `/v1/spaces/{spaceId}${route.path.replaceAll(/:(\w+)/g, '{$1}')}`;
  const operation = document.paths[path]?.[route.method.toLowerCase()];
  if (!operation) throw new Error(`${route.method} ${path} is not in the document`);
  return operation;
};

describe('GET /openapi.json', () => {
  before(async () => {
    const response = await fetch(`${(await api()).url}/openapi.json`);
    expect(response.status).to.equal(200);
    document = (await response.json()) as typeof document;
    (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
    ajv.addSchema({ $id: 'document', components: document.components });
  });

  it('is a valid OpenAPI 3.1 document and needs no key', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).to.deep.equal({ valid: true });
    expect(validator.version).to.equal('3.1');
    expect(JSON.stringify(document)).to.not.match(/undefined|\[object/);
  });

  it('has schemas that a strict reader compiles, with defaults and examples of the right type', () => {
    // Of OpenAPI, not of JSON Schema. Muster writes null as one of several types.
    const strict = new Ajv2020({ strict: true, allowUnionTypes: true, inlineRefs: false, keywords: ['discriminator'] });
    (addFormats as unknown as (ajv: Ajv2020) => void)(strict);
    const local = (schema: object) =>
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components/schemas/', '"document#/$defs/'));
    strict.addSchema({ $id: 'document', $defs: local(document.components.schemas) });
    const wholes = new Set<string>();
    let compared = 0;
    for (const { path, schema, isWhole } of everySchema(document)) {
      const { default: preset, examples = [], description: _, ...rules } = schema;
      // A component is compiled where it is referred to.
      const [, component] = /^\/components\/([^/]+)$/.exec(path) ?? [];
      if (isWhole)
        wholes.add(JSON.stringify(component === undefined ? rules : { $ref: `#/components/schemas/${component}` }));
      const values = [...(preset === undefined ? [] : [preset]), ...examples];
      const validate = values.length > 0 ? validatorOf(rules) : () => false;
      for (const value of values) expect(validate(value), `${path} ${JSON.stringify(value)}`).to.equal(true);
      compared += values.length;
    }
    expect(compared).to.be.above(100);
    for (const text of wholes) strict.compile(local(JSON.parse(text)));
  });

  it('names its components so that generators can make types of them: letters and digits, whatever their case', () => {
    for (const [kind, named] of Object.entries(document.components)) {
      const names = Object.keys(named);
      if (kind === 'schemas') for (const name of names) expect(name).to.match(/^[A-Z][A-Za-z0-9]+$/);
      const plain = names.map((name) => name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase());
      expect(new Set(plain).size, kind).to.equal(names.length);
    }
    const { Event, Call } = document.components.schemas;
    for (const { oneOf = [], discriminator } of [Event, Call] as Schema[])
      expect(Object.values(discriminator?.mapping ?? {})).to.deep.equal(oneOf.map(({ $ref }) => $ref));
  });

  it('has every route once, with its permission, its errors and its headers', async () => {
    for (const route of allRoutes) {
      const operation = operationOf(route);
      expect(operation.operationId).to.equal(route.call);
      expect(operation['x-permission']).to.equal(route.permission);
      expect(document.tags.map(({ name }) => name)).to.include.members(operation.tags);
      const failures = codesOf(route).flatMap((code) => statusesOf(allErrors, code, route).map(String));
      expect(new Set(Object.keys(operation.responses)), route.call).to.deep.equal(
        new Set([...Object.keys(route.success), ...failures]),
      );
      const names = operation.parameters.map((parameter) => parameter.$ref ?? parameter.name);
      const optional = 'OptionalIdempotencyKey';
      const key = { required: 'IdempotencyKey', optional, calls: optional, never: '' }[route.idempotency];
      for (const name of key === '' ? [] : [key]) expect(names).to.include(`#/components/parameters/${name}`);
      for (const [, name] of route.path.matchAll(/:(\w+)/g)) expect(names).to.include(name);
    }
    const ids = Object.values(document.paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids.length).to.equal(allRoutes.length + product.spacelessRoutes.length + 3);
    const listed = document.paths['/v1/spaces']?.['get'];
    expect(JSON.stringify(listed))
      .to.include('/responses/Error429Organization"')
      .and.not.match(/Error404|SPACE_NOT_FOUND/);
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      expect(document.paths[path]?.['get']?.security).to.deep.equal([]);
    }
  });

  it('publishes request schemas that accept exactly what the service accepts', async () => {
    for (const route of allRoutes) {
      const schema = operationOf(route).requestBody?.content['application/json'].schema;
      expect(schema !== undefined, route.call).to.equal(['POST', 'PUT', 'PATCH'].includes(route.method));
      if (!schema) continue;
      const validate = validatorOf(schema);
      for (const body of samples(route.body)) {
        expect(validate(body), `${route.call} ${JSON.stringify(body)} ${ajv.errorsText(validate.errors)}`).to.equal(
          true,
        );
        expect(validate({ ...body, other: 1 }), `${route.call} with another field`).to.equal(false);
        for (const name of Object.keys(body)) {
          const { [name]: _, ...rest } = body;
          const taken = route.body?.validate(rest).error === undefined;
          expect(validate(rest), `${route.call} without ${name}`).to.equal(taken);
          const nulled = { ...body, [name]: null };
          expect(validate(nulled), `${route.call} with ${name}: null`).to.equal(
            route.body?.validate(nulled).error === undefined,
          );
        }
      }
    }
  });

  it('accepts a reference in a batch for every field whose name ends with Id, and for no other', () => {
    const validate = validatorOf({ $ref: '#/components/schemas/Call' });
    const send = {
      call: 'message.send',
      mailboxId: { $from: 0 },
      scopeId: { $from: 0, member: 'scopeId' },
      payload: 1,
    };
    const after = [{ messageId: { $from: 1 } }, { groupId: { $from: 2 } }];
    for (const call of [
      { ...send, after },
      { call: 'message.recv', mailboxId: { $from: 0 }, scopeId: { $from: 1 }, holder: 'h', holderSession: 's' },
      {
        call: 'message.complete',
        messageId: { $from: 0 },
        token: 't',
        result: { payload: 1, mailboxId: { $from: 1 } },
      },
    ])
      expect(validate(call), ajv.errorsText(validate.errors)).to.equal(true);
    for (const wrong of [{ workKey: { $from: 0 } }, { scopeId: { $from: -1 } }, { scopeId: { $from: 0, else: 1 } }])
      expect(validate({ ...send, ...wrong }), JSON.stringify(wrong)).to.equal(false);
  });

  it('has a title and a description for every call, and says of every field what it means', async () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    // More than the rule that all fields of its kind share, and before any rule.
    const meaning =
      /^(?!without control|any JSON value|at most|in minor|must|true:|null:|(?:\w+, )*\w+: \w+ of them).{8,}/s;
    const walk = (schema: Schema, path: string): void => {
      for (const [name, field] of Object.entries(schema.properties ?? {})) {
        const isRef = field.$ref !== undefined || field.anyOf?.some(({ $ref }) => $ref !== undefined);
        if (!isRef && field.const === undefined) expect(field.description, `${path}.${name}`).to.match(meaning);
        walk(field, `${path}.${name}`);
      }
      for (const part of [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]) walk(part, path);
    };
    for (const { operationId, summary, description, parameters, requestBody } of operations) {
      expect(summary, operationId).to.match(/^[A-Z].{4,89}$/);
      expect(description, operationId).to.match(/^[A-Z0-9`].{30,}\.$/s);
      for (const one of parameters ?? [])
        if (one.$ref === undefined) expect(one.description, `${operationId} ${one.name}`).to.match(meaning);
      if (requestBody) walk(requestBody.content['application/json'].schema, operationId);
    }
    const { schemas, parameters } = document.components as unknown as Record<string, Record<string, Schema>>;
    for (const [name, schema] of Object.entries(schemas ?? {})) walk(schema, name);
    for (const [name, one] of Object.entries(parameters ?? {})) expect(one.description, name).to.match(meaning);
  });

  it('has examples that its own schemas accept: of every body, every answer and every refusal', async () => {
    const check = (content: Content | undefined, what: string) => {
      if (!content) return;
      const { schema, example } = content['application/json'] ?? {};
      expect(example, what).to.be.an('object');
      const validate = validatorOf(schema);
      expect(validate(example), `${what} ${ajv.errorsText(validate.errors)}`).to.equal(true);
    };
    const { responses } = document.components as unknown as { responses: Record<string, { content?: Content }> };
    for (const [name, { content }] of Object.entries(responses)) check(content, name);
    for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
      const { operationId, requestBody } = operation;
      const body = requestBody?.content;
      if (body && (body['application/json'].schema as Schema).$ref !== emptyBody) check(body as Content, operationId);
      for (const [status, { content }] of Object.entries(operation.responses))
        check(content as Content | undefined, `${operationId} ${status}`);
    }
  });

  it('names the schema of every body and of every answer', async () => {
    const { paths } = document;
    const bodies: string[] = [];
    for (const { operationId, requestBody, responses } of Object.values(paths).flatMap((path) => Object.values(path))) {
      if (requestBody) bodies.push((requestBody.content['application/json'].schema as Schema).$ref ?? operationId);
      for (const [status, { content }] of Object.entries(responses)) {
        const schema = (content as Content | undefined)?.['application/json']?.schema as Schema | undefined;
        if (!schema || operationId === 'system.openapi') continue;
        for (const { $ref } of schema.anyOf ?? schema.allOf?.slice(0, 1) ?? [schema])
          expect($ref, `${operationId} ${status}`).to.match(/^#\/components\/schemas\/[A-Z]\w+$/);
      }
    }
    for (const body of bodies) expect(body).to.match(/^#\/components\/schemas\/[A-Z]\w+Body$/);
    // Each call takes its own, unless it takes nothing.
    const own = bodies.filter((body) => body !== emptyBody);
    expect(own).to.include('#/components/schemas/MessageSendBody');
    expect(new Set(own).size).to.equal(own.length);
  });

  it('describes refusals that many calls share once, and names those of a call first', async () => {
    const own = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .flatMap(({ operationId, responses }) =>
        Object.entries(responses).flatMap(([status, { description }]) =>
          status >= '400' && description !== undefined ? [{ what: `${operationId} ${status}`, description }] : [],
        ),
      );
    const shared = /`(VALIDATION_FAILED|MALFORMED_JSON|SPACE_NOT_FOUND|RATE_LIMITED|SERVICE_RATE_LIMITED|INTERNAL)`/;
    for (const { what, description } of own) expect(description.split('\n')[0], what).to.not.match(shared);
  });

  it('has a valid example of every body, and of every answer with content', async () => {
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    for (const route of [...allRoutes, ...product.spacelessRoutes]) {
      const operation = operations.find(({ operationId }) => operationId === route.call);
      const check = (schema: Joi.Schema, media: object | undefined, what: string) => {
        expect(media, what).to.have.property('example').that.is.an('object');
        const { example } = media as { example: object };
        expect(schema.validate(example).error?.message, `${what} ${JSON.stringify(example)}`).to.equal(undefined);
        return example;
      };
      if (route.body && operation?.requestBody) {
        const body = check(route.body, operation.requestBody.content['application/json'], route.call);
        // `args` tests rules between fields, which the schema does not have.
        const input = { params: {}, query: {}, headers: {}, trace: noTrace, body: route.body.validate(body).value };
        if (!('cursor' in body)) route.args?.(input);
      }
      for (const [status, schema] of Object.entries(route.success)) {
        const content = operation?.responses[status]?.content as Record<string, object> | undefined;
        if (schema) check(schema, content?.['application/json'], `${route.call} ${status}`);
      }
    }
  });

  it('describes every error, and that a reservation must exceed "0"', async () => {
    expect(JSON.stringify(document)).to.not.match(/`[A-Z_]+`: …?(\\n|")/);
    const amounts = ['0', '000', '1', '010', '9'.repeat(18), '9'.repeat(19), '-1', ''];
    const { schemas } = document.components as { schemas: Record<string, Schema> };
    const taken = (body: string) => {
      const validate = new Ajv2020({ strict: false }).compile(schemas[body]?.properties?.['amountMinor'] ?? false);
      return amounts.filter((amount) => validate(amount));
    };
    expect(taken('BudgetReserveBody')).to.deep.equal(['1', '010', '9'.repeat(18)]);
    expect(taken('BudgetSettleBody')).to.deep.equal(['0', '000', '1', '010', '9'.repeat(18)]);
  });
});

describe('the check of every answer', () => {
  const request = ['GET', '/v1/spaces/0190a1b2-0000-7000-8000-000000000000/limits'] as const;
  const refused = (reply: Reply): string => {
    try {
      checkDeclared(...request, reply);
    } catch (error) {
      return (error as Error).message.split('not as declared: ')[1] ?? '';
    }
    return '';
  };

  it('refuses an unknown field, a missing one, another status, an undeclared code and a wrong envelope', async () => {
    const good = await (await World.create()).get('/limits');
    expect(refused(good)).to.equal('');
    expect(refused({ ...good, body: { ...good.body, other: 1 } })).to.equal('"other" is not allowed');
    expect(refused({ ...good, body: { ...good.body, maxBacklog: undefined } })).to.equal('"maxBacklog" is required');
    expect(refused({ ...good, body: { ...good.body, maxBacklog: '5' } })).to.match(/maxBacklog/);
    expect(refused({ ...good, status: 201 })).to.equal('limits.get does not declare 201');
    const requestId = good.headers.get('x-request-id');
    const failed = (error: object, status = 404) => refused({ ...good, status, body: { error } });
    expect(failed({ code: 'SPACE_NOT_FOUND', message: 'no', requestId })).to.equal('');
    expect(failed({ code: 'SPACE_NOT_FOUND', message: 'no', requestId }, 409)).to.equal('SPACE_NOT_FOUND is 404');
    expect(failed({ code: 'BACKLOG_FULL', message: 'no', requestId }, 409)).to.match(/does not declare BACKLOG_FULL/);
    expect(failed({ code: 'SPACE_NOT_FOUND', message: 'no', requestId: 'x' })).to.equal(
      'requestId is not X-Request-Id',
    );
    expect(failed({ code: 'SPACE_NOT_FOUND', message: 'no', requestId, more: 1 })).to.match(/error has code/);
    expect(failed({ code: 'SPACE_NOT_FOUND', message: 'limit undefined', requestId })).to.equal('message');
  });
});
