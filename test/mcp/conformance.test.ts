import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { World } from '../support/world.ts';

/** The scenarios that count, with how many checks each makes; conformance.yml says why the others do not. */
const counted = {
  'server-initialize': 1,
  ping: 1,
  'tools-list': 1,
  'resources-list': 1,
  'prompts-list': 1,
  'dns-rebinding-protection': 2,
};
const place = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const suite = '../../node_modules/@modelcontextprotocol/conformance/dist/index.js';

describe('The conformance suite of the Model Context Protocol', () => {
  it('passes with its scenarios that are for any server', async () => {
    const world = await World.create();
    const { hostname, port } = new URL(world.url);
    // The suite sends no key.
    const withKey = createServer((asked, answer) => {
      const headers = { ...asked.headers, authorization: `Bearer ${world.apiKey}` };
      const path = `/v1/spaces/${world.spaceId}/mcp`;
      const sent = request({ hostname, port, path, method: asked.method, headers }, (answered) => {
        answer.writeHead(answered.statusCode ?? 500, answered.headers);
        answered.pipe(answer);
      });
      asked.pipe(sent);
    });
    withKey.listen(0, '127.0.0.1');
    await once(withKey, 'listening');
    try {
      const url = `http://127.0.0.1:${(withKey.address() as AddressInfo).port}/mcp`;
      const preload = 'globSync' in fs ? [] : ['--import', new URL('glob.mjs', import.meta.url).href];
      const words = ['server', '--url', url, '--suite', 'all', '--expected-failures', place('conformance.yml')];
      const child = spawn(process.execPath, [...preload, place(suite), ...words], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(child, 'exit');
      const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
      const passed = [...output.matchAll(/^✓ ([a-z-]+): ([1-9]\d*) passed, 0 failed/gm)];
      expect(Object.fromEntries(passed.map(([, name, checks]) => [name, Number(checks)])), output).to.deep.equal(
        counted,
      );
      expect(code, output + errors).to.equal(0);
    } finally {
      withKey.closeAllConnections();
      withKey.close();
    }
  });
});
