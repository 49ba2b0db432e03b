import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { said } from '../../src/cli/errors.ts';
import { runCommand } from '../../src/cli/program.ts';
import { Raw } from '../../src/engine/declare/raw.ts';
import { stringify } from '../../src/engine/route/json.ts';
import { redisUrl } from '../support/store.ts';
import { World } from '../support/world.ts';

/** Characters that hide, reorder what stands beside them, or control a terminal. */
const hidden = 'a\u202eb\u200bc\u{e0041}d\u009b2Je';
const isRaw = /[\u202e\u200b\u009b\u{e0041}]/u;
const shown = 'a<U+202E>b<U+200B>c<U+E0041>d<U+009B>2Je';
const number = '[9007199254740993,1e400]';

describe('What others have written, printed by a command', () => {
  let world: World;
  let settings: Record<string, string>;
  before(async () => {
    world = await World.create();
    settings = {
      ...{ REDIS_URL: await redisUrl(), MUSTER_URL: world.url, MUSTER_SPACE: world.spaceId, MUSTER_KEY: world.apiKey },
    };
    const note = encodeURIComponent(hidden.replace('\u009b', ''));
    expect((await world.call('PUT', `/scopes/${randomUUID()}/notes/${note}`, { value: 1 })).status).to.equal(201);
    const scopeId = randomUUID();
    await world.mustPost('/questions', { scopeId, question: hidden });
    const asked = stringify({ scopeId, question: new Raw(number) });
    await world.send('POST', `/v1/spaces/${world.spaceId}/questions`, asked, {
      Authorization: `Bearer ${world.apiKey}`,
      'Idempotency-Key': randomUUID(),
      'Content-Type': 'application/json',
    });
  });

  async function printed(args: readonly string[], isTTY: boolean): Promise<string> {
    const texts: unknown[] = [];
    const stream = { write: (one: unknown) => texts.push(one) > 0, isTTY };
    const failure = await runCommand(args, { env: { ...process.env, ...settings }, stdout: stream, stderr: stream });
    if (failure !== null) throw new Error(failure);
    return texts.join('');
  }
  const list = ['question', 'list'];

  it('shows hidden characters in a table', async () => {
    expect(await printed(list, true))
      .to.contain(shown)
      .and.not.match(isRaw);
  });

  it('is the same JSON on a terminal, with hidden characters escaped, as in a pipe', async () => {
    const [terminal, pipe] = [await printed(['--json', ...list], true), await printed(list, false)];
    expect(terminal).to.contain('a\\u202eb\\u200bc\\udb40\\udc41d\\u009b2Je').and.not.match(isRaw);
    expect(pipe)
      .to.match(/^.*\n$/)
      .and.contain(hidden);
    expect(JSON.parse(terminal)).to.deep.equal(JSON.parse(pipe));
    expect(JSON.parse(pipe).questions).to.have.length(2);
  });

  it('keeps the digits that JavaScript cannot hold', async () => {
    expect(await printed(list, false)).to.contain(`"question":${number},`);
    expect(await printed(['--json', ...list], true)).to.contain(`"question": ${number},`);
    expect(await printed(list, true)).to.contain(number);
  });

  it('is the same event on a terminal, with hidden characters escaped', async () => {
    const events = ['events', world.spaceId, '--org', world.org, '--types', 'note.*'];
    const [terminal, pipe] = [await printed(events, true), await printed(events, false)];
    expect([isRaw.test(terminal), isRaw.test(pipe)]).to.deep.equal([false, true]);
    const parsed = [terminal, pipe].map((text) =>
      text
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    );
    expect(parsed[0]).to.deep.equal(parsed[1]);
  });

  it('shows hidden characters in an error for people, and escapes them in JSON on a terminal', async () => {
    const failure = await runCommand(['org', 'show', hidden], {
      ...{ env: { ...process.env, ...settings }, stdout: process.stdout, stderr: process.stderr },
    });
    const envelope = failure ?? '';
    expect(said(envelope, { isTTY: false, isJson: false }))
      .to.equal(envelope)
      .and.contain('\u202e');
    const sentence = said(envelope, { isTTY: true, isJson: false });
    expect(sentence)
      .to.match(/^muster: org: .* \(VALIDATION_FAILED\)$/)
      .and.contain('<U+202E>')
      .and.not.match(isRaw);
    const json = said(envelope, { isTTY: true, isJson: true });
    expect(json).to.not.match(isRaw);
    expect(JSON.parse(json)).to.deep.equal(JSON.parse(envelope));
  });
});
