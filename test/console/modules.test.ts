import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { alike, duration, money, percent, plural } from '../../src/pages/console/browser/format.ts';
import { isText, jsonOf, members, parse, pretty, textOf } from '../../src/pages/console/browser/json-text.ts';
import { address, placeOf } from '../../src/pages/console/browser/place.ts';
import { Scopes } from '../../src/pages/console/browser/scopes.ts';
import { SseReader } from '../../src/pages/console/browser/sse.ts';
import { visible } from '../../src/pages/text/visible.ts';
import { canonical, textOf as textIn, values } from '../clients/behaviours/values.ts';

const id = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const other = '01a1fc43-3c71-7002-984a-e30e334b7ba9';

describe('The console', () => {
  it('formats money exactly, to 18 digits', () => {
    expect(money('0', 2)).to.equal('0.00');
    expect(money('7', 2)).to.equal('0.07');
    expect(money('123456', 2)).to.equal('1,234.56');
    expect(money('123456', 0)).to.equal('123,456');
    expect(money('999999999999999999', 9)).to.equal('999,999,999.999999999');
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 18n - 1n), fc.nat(9), (minor, scale) => {
        expect(BigInt(money(String(minor), scale).replaceAll(/[,.]/g, ''))).to.equal(minor);
      }),
    );
  });

  it('computes percentages, also of zero', () => {
    expect(percent('250000000000000000', '999999999999999999')).to.equal(25);
    expect(percent(1, 3)).to.equal(33.33);
    expect(percent('0', '0')).to.equal(0);
  });

  it('keeps all digits of numbers, whatever is around them', () => {
    for (const value of values) {
      const text = textIn(value);
      const found = parse(`{"value": ${text} ,"id":"a"}`) as { value: unknown };
      expect([canonical(text), canonical(value.short ?? text)], value.name).to.include(canonical(jsonOf(found.value)));
      const plain: unknown = JSON.parse(text);
      expect(isText(found.value), value.name).to.equal(typeof plain === 'string');
      if (typeof plain === 'string') expect(textOf(found.value)).to.equal(plain);
    }
  });

  it('formats ages in their two largest units', () => {
    expect([-1, 0, 59.9, 60, 3_661, 90_061].map(duration)).to.deep.equal([
      '0 s',
      '0 s',
      '59 s',
      '1 m',
      '1 h 1 m',
      '1 d 1 h',
    ]);
    expect([plural(1, 'unit'), plural(2_000, 'unit')]).to.deep.equal(['1 unit', '2,000 units']);
  });

  it('takes errors that differ only in numbers and ids for one', () => {
    const texts = [
      'timeout after 31 ms of 01a2fc43-3c71-7002-984a-e30e334b7ba9',
      'timeout after 1,042.5 ms of 9C24E83B12',
      'timeout after 7 ms of 0x1f',
    ];
    expect(new Set(texts.map(alike))).to.deep.equal(new Set(['timeout after … ms of …']));
    expect(alike('page 3 of decade/12: refused')).to.equal('page … of decade/…: refused');
    fc.assert(
      fc.property(fc.string(), fc.nat(), fc.uuid(), (text, number, id) => {
        expect(alike(alike(text))).to.equal(alike(text));
        expect(alike(`${text} ${number} ${id}`)).to.equal(alike(`${text} 0 ${other}`));
      }),
    );
  });

  it('shows what turns a text or cannot be seen in it, and nothing else', () => {
    const hidden = [
      ...[
        0x202a, 0x202e, 0x2066, 0x2069, 0x200e, 0x200f, 0x061c, 0x200b, 0x200d, 0x00ad, 0xfeff, 0x2060, 0x3164, 0x2028,
      ],
      ...[0x0, 0x1b, 0x7f, 0x85, 0xfe0f, 0xe0041, 0xd800],
    ];
    for (const code of hidden)
      expect(visible(`a${String.fromCodePoint(code)}b`)).to.equal(
        `a<U+${code.toString(16).toUpperCase().padStart(4, '0')}>b`,
      );
    for (const text of ['plain "text"', 'lines\r\n\tof it', 'עברית العربية', '👩🏽‍💻 ❤️ 🇩🇪', 'naïve – 漢字', ''])
      expect(visible(text)).to.equal(text);
  });

  it('has one place where a text gets into the page', () => {
    const folder = new URL('../../src/pages/console/browser/', import.meta.url);
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts') || name === 'dom.ts') continue;
      const code = readFileSync(new URL(name, folder), 'utf8');
      expect(code, name).to.not.match(/(textContent|innerText|innerHTML|nodeValue|document\.title) = |createTextNode/);
    }
  });

  it('takes a space, a page, an object and filters from the address, and nothing else', () => {
    const read = (hash: string): unknown => {
      const { query, ...place } = placeOf(hash);
      return { ...place, query: Object.fromEntries(query) };
    };
    const nothing = { spaceId: undefined, page: '', id: undefined, query: {} };
    expect(read(address(id))).to.deep.equal({ ...nothing, spaceId: id });
    expect(read(address(id.toUpperCase(), 'runs'))).to.deep.equal({ ...nothing, spaceId: id, page: 'runs' });
    const query = { state: 'FAILED', workKey: 'a&b=c#d/é' };
    expect(read(address(id, `mailbox/${other}`, { ...query, cursor: undefined, name: '' }))).to.deep.equal({
      spaceId: id,
      page: 'mailbox',
      id: other,
      query,
    });
    for (const hash of ['', '#', '#/space/', `#/space/${id}/../x`, `#/space/${id}/run/x y`, '#javascript:alert(1)'])
      expect(read(hash)).to.deep.equal(nothing);
  });

  it('shows JSON as it is written, to the last digit', () => {
    const text = '{"a":12345678901234567890.10,"b":{"c":["}",1],"d":{}},"e":"\\"{","payload":null}';
    expect(Object.fromEntries(members(text))).to.deep.equal({
      a: '12345678901234567890.10',
      b: '{"c":["}",1],"d":{}}',
      e: '"\\"{"',
      payload: 'null',
    });
    expect(pretty('[1e400,{"a":[],"b":[ true ]}]')).to.equal(
      '[\n  1e400,\n  {\n    "a": [],\n    "b": [\n      true\n    ]\n  }\n]',
    );
    fc.assert(
      fc.property(fc.json(), (written) => {
        const value: unknown = JSON.parse(written);
        expect(JSON.parse(pretty(written))).to.deep.equal(value);
        expect(pretty(written)).to.equal(pretty(JSON.stringify(value, null, 4)));
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        const parts = [...members(written)].map(([name, part]) => [name, JSON.parse(part)]);
        expect(Object.fromEntries(parts)).to.deep.equal(isObject ? value : {});
      }),
    );
  });

  it('parses server-sent events wherever they are split', () => {
    const text = 'id: a\nevent: x\ndata: {"n":1}\n\n: heartbeat\nid: b\n\nid: c\ndata: {"n":2}\n\nid: d\nda';
    const wanted = [
      { id: 'a', data: '{"n":1}' },
      { id: 'b', data: '' },
      { id: 'c', data: '{"n":2}' },
    ];
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), text.length];
        const reader = new SseReader();
        const read = at.slice(1).flatMap((end, index) => reader.push(text.slice(at[index], end)));
        expect(read).to.deep.equal(wanted);
      }),
    );
  });

  it('knows what is below the scopes that it learns of, in any order, and remembers a bounded number', () => {
    const scopes = new Scopes();
    scopes.learn('child', '2026-01-01', 'root');
    scopes.learn('other', '2026-01-02');
    scopes.learn('grandchild', '2026-01-03', 'child');
    scopes.learn('child', '2026-01-03');
    expect([...scopes.subtree('root')]).to.have.members(['root', 'child', 'grandchild']);
    expect([...scopes.subtree('child')]).to.have.members(['child', 'grandchild']);
    for (let i = 0; i < 5_000; i++) scopes.learn(`s${i}`, `2026-02-01T${String(i).padStart(5, '0')}`, 'parent');
    const known = scopes.subtree('parent');
    expect(known.size).to.be.within(1_000, 1_201);
    expect(known.has('s4999')).to.equal(true);
  });
});
