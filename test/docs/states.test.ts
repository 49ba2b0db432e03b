import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type Joi from 'joi';
import { Waiter } from '../../src/primitives/allowance/records.ts';
import { Barrier } from '../../src/primitives/barrier/records.ts';
import { Reservation } from '../../src/primitives/budget/records.ts';
import { TaskGroup } from '../../src/primitives/group/records.ts';
import { Message } from '../../src/primitives/mailbox/records.ts';
import { Hold } from '../../src/primitives/pool/records.ts';
import { product } from '../../src/primitives/primitives.ts';
import { Question } from '../../src/primitives/question/records.ts';
import { Schedule } from '../../src/primitives/schedule/records.ts';
import { Scope } from '../../src/primitives/scope/records.ts';
import { Destination } from '../../src/primitives/webhook/records.ts';

const docs = new URL('../../docs/', import.meta.url);
const textOf = (path: string): string => readFileSync(new URL(path, docs), 'utf8');
const pages = readdirSync(docs)
  .filter((name) => name.endsWith('.md'))
  .map(textOf)
  .join();

const pictured: Readonly<Record<string, { readonly schema: Joi.Schema }>> = {
  barrier: Barrier,
  destination: Destination,
  group: TaskGroup,
  hold: Hold,
  message: Message,
  question: Question,
  reservation: Reservation,
  schedule: Schedule,
  scope: Scope,
  waiter: Waiter,
};

describe('docs/states', () => {
  for (const [name, { schema }] of Object.entries(pictured))
    it(`${name}.svg has the states that there are, and a page shows it with a text for who cannot see it`, () => {
      const inPicture = [...textOf(`states/${name}.svg`).matchAll(/class="state"[^>]*>(\w+)</g)].map(
        ([, state]) => state,
      );
      expect(inPicture).to.have.members(schema.describe()['keys'].state.allow);
      const [, text = ''] = new RegExp(`!\\[([^\\]]*)\\]\\(states/${name}\\.svg\\)`).exec(pages) ?? [];
      for (const state of inPicture) expect(text, name).to.include(state);
    });

  it('has no other files', () => {
    expect(readdirSync(new URL('states/', docs))).to.have.members(Object.keys(pictured).map((name) => `${name}.svg`));
  });
});

describe('docs/events.md', () => {
  it('has every type of event', () => {
    const inPage = [...textOf('events.md').matchAll(/^\| [\w ]+ \| (`[^|]*`) \|$/gm)].flatMap(([, types = '']) => {
      let prefix = '';
      return [...types.matchAll(/`(?:([a-z]+)\.)?([a-z_]+)`/g)].map(([, before = prefix, name = '']) => {
        prefix = before;
        return `${prefix}.${name}`;
      });
    });
    expect(inPage).to.have.members(product.events.map(({ type }) => type));
  });
});
