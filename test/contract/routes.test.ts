import { expect } from 'chai';
import { patternOf, type Route } from '../../src/engine/route/route.ts';
import { codesOf, statusesOf, statusOf } from '../../src/engine/route/route-errors.ts';
import { allErrors, allRoutes, product } from '../../src/primitives/primitives.ts';
import { endpoints, errorCodes } from './endpoints.ts';

const permissions: Record<string, string> = {
  r: 'coordination_read',
  w: 'coordination_write',
  c: 'resource_config',
  s: 'resource_spend',
  n: 'none',
};
const keys: Record<string, string> = { '!': 'required', '?': 'optional', '-': 'never', '*': 'calls' };

interface Row {
  readonly name: string;
  readonly permission: string | undefined;
  readonly idempotency: string | undefined;
  readonly statuses: string | undefined;
}

const rows: Row[] = endpoints.map((line) => {
  const [method, path, permission = '', key = '', statuses] = line.split(/ +/);
  return { name: `${method} ${path}`, permission: permissions[permission], idempotency: keys[key], statuses };
});
const nameOf = (route: Route): string => `${route.method} ${route.path.replaceAll(/:\w+/g, '{}')}`;
const inCode = new Map(allRoutes.map((route) => [nameOf(route), route]));
const isListed = (code: string, status: number): boolean => errorCodes[status]?.split(' ').includes(code) ?? false;

describe('the list of routes', () => {
  it('has exactly the listed endpoints, each once', () => {
    expect([...inCode.keys()]).to.have.members(rows.map(({ name }) => name));
    expect(inCode.size).to.equal(allRoutes.length);
    expect(new Set(allRoutes.map((route) => route.call)).size).to.equal(allRoutes.length);
  });

  it('has each with its permission, its Idempotency-Key rule and its statuses', () => {
    for (const { name, permission, idempotency, statuses } of rows) {
      const route = inCode.get(name);
      expect(route?.permission, name).to.equal(permission);
      expect(route?.idempotency, name).to.equal(idempotency);
      if (statuses !== undefined) expect(Object.keys(route?.success ?? {}).join(), name).to.equal(statuses);
    }
  });

  it('has calls of no space beside them', () => {
    const named = product.spacelessRoutes.map((route) => `${patternOf(route)} ${route.call} ${route.permission}`);
    expect(named).to.have.members([
      '/v1/spaces space.list any',
      ...['list', 'create'].map((one) => `/v1/keys key.${one} key_admin`),
      '/v1/keys/:keyId key.revoke key_admin',
      '/v1/keys/:keyId/audit key.audit key_admin',
    ]);
  });

  it('refuses an unknown id in a path with the 404 of its kind', () => {
    // A scope that was never used has no notes.
    for (const route of allRoutes.filter(({ call }) => !call.startsWith('note.'))) {
      for (const [, kind = ''] of route.path.matchAll(/:(\w+)Id\b/g)) {
        const code = `${kind.toUpperCase()}_NOT_FOUND`;
        expect(route.refuses, route.call).to.include(code);
        expect(statusOf(allErrors, code, patternOf(route))).to.equal(404);
      }
    }
    for (const route of allRoutes.filter(({ refuses }) => refuses.includes('NOTE_NOT_FOUND')))
      expect(statusOf(allErrors, 'NOTE_NOT_FOUND', patternOf(route)), route.call).to.equal(404);
  });

  it('gives recovery calls, and no others, the reserved share of the rates', () => {
    const recovery =
      'message.renew message.complete message.nack message.suspend message.cancel mailbox.leave budget.settle budget.void allowance.settle task.accept task.reject group.seal barrier.arrive waiter.renew waiter.cancel hold.renew hold.release hold.cancel message.ask question.answer question.withdraw scope.cancel scope.pause scope.resume mailbox.pause mailbox.resume bulk.cancel';
    const inList = allRoutes.filter((route) => route.rate === 'recovery');
    expect(inList.map((route) => route.call)).to.have.members(recovery.split(' '));
    for (const route of inList) expect(route.refuses, route.call).to.not.include('OPERATIONS_EXHAUSTED');
    const limits = allRoutes.filter((route) => route.rate === 'limits').map((route) => route.call);
    expect(limits).to.have.members(['limits.get', 'limits.put']);
    const ofOperators = allRoutes.filter((route) => route.rate === 'operator').map((route) => route.call);
    const shown =
      'census.get backlog.get usage.get figures.get mailbox.list mailbox.view mailbox.errors message.release';
    expect(ofOperators).to.have.members(shown.split(' '));
  });
});

const everyRoute = [...allRoutes, ...product.spacelessRoutes];

describe('the error codes', () => {
  it('every error code of a route is in an error table and in the list, with the right status', () => {
    for (const route of everyRoute) {
      expect(new Set(route.refuses).size, `${route.call} names a code twice`).to.equal(route.refuses.length);
      for (const code of codesOf(route)) {
        expect(allErrors, route.call).to.have.property(code);
        for (const status of statusesOf(allErrors, code, route))
          expect(isListed(code, status), `${route.call}: ${code} ${status}`).to.equal(true);
      }
    }
  });

  it('the tables have the codes of the list, each with the right status and a message', () => {
    const inList = Object.values(errorCodes).flatMap((codes) => codes.split(' '));
    expect(Object.keys(allErrors)).to.have.members([...new Set(inList)]);
    for (const [code, { status, message }] of Object.entries(allErrors)) {
      expect(isListed(code, status), `${code} ${status}`).to.equal(true);
      expect(message('a b'), code).to.match(/\S/);
      expect(message('a b'), code).to.not.match(/undefined|NaN/);
    }
  });

  it('every error code of a room can be answered by a route', () => {
    const declared = new Set(everyRoute.flatMap(codesOf));
    const unanswered = Object.keys(allErrors).filter((code) => !declared.has(code));
    const ofNoRoute = ['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE'];
    expect(unanswered).to.have.members(ofNoRoute);
  });
});
