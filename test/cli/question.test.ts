import { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { expect } from 'chai';
import { visit } from '../answer/answers.ts';
import { failure, record } from '../support/cli.ts';
import { World } from '../support/world.ts';

describe('muster question', () => {
  let world: World;
  let settings: Record<string, string>;
  const scopeId = randomUUID();
  before(async () => {
    world = await World.create();
    settings = { MUSTER_URL: world.url, MUSTER_SPACE: world.spaceId, MUSTER_KEY: world.apiKey };
  });

  const ask = (question: unknown, scope = scopeId) => world.mustPost('/questions', { scopeId: scope, question });

  it('lists what is open, oldest first, answers it and makes links to its page', async () => {
    const [first, second, other] = [await ask('One?'), await ask('Two?'), await ask('Three?', randomUUID())];
    const idsOf = async (...more: string[]) =>
      (await record(['question', 'list', ...more], settings)).questions.map(({ id }: { id: string }) => id);
    expect(await idsOf()).to.deep.equal([first.id, second.id, other.id]);
    expect(await idsOf('--scope', scopeId)).to.deep.equal([first.id, second.id]);
    const answered = await record(['question', 'answer', first.id, 'yes', '--by', 'ann'], settings);
    expect(answered).to.include({ state: 'ANSWERED', answer: 'yes', answeredBy: 'ann', answeredVia: 'API' });
    const json = await record(['question', 'answer', other.id, '{"pages":[1]}', '--as-json'], settings);
    expect(json.answer).to.deep.equal({ pages: [1] });
    const { answerUrl } = await record(['question', 'link', second.id], settings);
    expect((await visit(answerUrl)).text).to.include('Two?');
    expect(await idsOf()).to.deep.equal([second.id]);
  });

  it("says what is wrong, in the API's words", async () => {
    const { id } = await ask('Once?');
    await record(['question', 'answer', id, 'yes'], settings);
    expect((await failure(['question', 'answer', id, 'no'], settings)).code).to.equal('QUESTION_CLOSED');
    expect((await failure(['question', 'link', randomUUID()], settings)).code).to.equal('QUESTION_NOT_FOUND');
    const { code, message } = await failure(['question', 'list'], { ...settings, MUSTER_KEY: '' });
    expect(code).to.equal('VALIDATION_FAILED');
    expect(message).to.include('MUSTER_KEY is not set: muster question list needs');
    expect((await failure(['question', 'answer', id, '{', '--as-json'], settings)).code).to.equal('VALIDATION_FAILED');
  });

  it('refuses a number that it cannot send with all its digits', async () => {
    const answer = (json: string) => ['question', 'answer', randomUUID(), json, '--as-json'];
    for (const number of ['123456789012345678901', '-9007199254740993', '3.14159265358979323846', '1e400', '1e-400']) {
      const { code, message } = await failure(answer(`{"a":["1",${number}]}`), settings);
      expect([code, message]).to.deep.equal([
        'VALIDATION_FAILED',
        `the answer has a number that would be rounded, ${number}: send it as a text, "${number}"`,
      ]);
    }
    const { id } = await ask('How many?');
    const kept = '[0,-0.0000001,1.50,1e3,100,9007199254740992,0.30000000000000004,"123456789012345678901 \\" 1e400"]';
    const { answer: stored } = await record(['question', 'answer', id, kept, '--as-json'], settings);
    expect(stored).to.deep.equal(JSON.parse(kept));
  });

  it('needs --by from a user who has no name, as in many containers', async () => {
    const { userInfo } = os;
    const setUserInfo = (to: typeof userInfo): void => {
      os.userInfo = to;
      syncBuiltinESMExports();
    };
    setUserInfo(() => {
      throw new Error('uv_os_get_passwd returned ENOENT');
    });
    try {
      const { id } = await ask('Who?');
      const { code, message } = await failure(['question', 'answer', id, 'yes'], settings);
      expect([code, message]).to.deep.equal([
        'VALIDATION_FAILED',
        'your user has no name on this machine: say who answers with --by <name>',
      ]);
      expect(await record(['question', 'answer', id, 'yes', '--by', 'ann'], settings)).to.include({
        answeredBy: 'ann',
      });
    } finally {
      setUserInfo(userInfo);
    }
  });
});
