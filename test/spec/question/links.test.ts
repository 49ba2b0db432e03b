import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { visit } from '../../answer/answers.ts';
import { expectAgreement } from '../../support/agree.ts';
import { expectNeedsOperation, expectNeedsRun, limitedWorld } from '../../support/plan.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { filled } from '../scope/run.ts';
import { Asking } from './questions.ts';

describe('the links of a question', () => {
  it('are a hundred at most, each to the same question; the next one is LINKS_FULL', async () => {
    const world = await World.create();
    const { id, answerUrl } = await world.mustPost('/questions', { scopeId: randomUUID(), question: 'Publish?' });
    const links: string[] = [answerUrl];
    while (links.length < 100) links.push((await world.mustPost(`/questions/${id}/link`)).answerUrl);
    expect(codeOf(await world.post(`/questions/${id}/link`))).to.equal('409 LINKS_FULL');
    expect(new Set(links).size).to.equal(100);
    expect((await visit(links[50] ?? '')).status).to.equal(200);
    expect((await visit(links[99] ?? '', { answer: 'yes', answeredBy: 'ann' })).status).to.be.below(400);
    expect((await visit(links[0] ?? '')).status, 'it is answered').to.equal(410);
    expect(codeOf(await world.post(`/questions/${id}/link`))).to.equal('409 QUESTION_CLOSED');
  });

  it('need an operation, as new questions do; answers, asks of a claim and withdrawals go on', async () => {
    const world = await limitedWorld();
    const work = await Asking.create(world);
    const make = () => world.mustPost('/questions', { scopeId: work.scopeId, question: 1 });
    const [one, two] = [await make(), await make()];
    await work.send();
    const { id, token } = await work.recv();
    await expectNeedsOperation(
      world,
      [['/questions', { scopeId: work.scopeId, question: 1 }], [`/questions/${one.id}/link`]],
      [
        [`/questions/${one.id}/answer`, { answer: 1, answeredBy: 'ann' }],
        [`/questions/${two.id}/withdraw`],
        [`/messages/${id}/ask`, { token, question: 1 }],
      ],
    );
    await expectNeedsRun(world, [['/questions', { scopeId: randomUUID(), question: 1 }]]);
  });
});

describe('a question for a key that is limited to mailboxes', () => {
  it('is there if a message of these asked it, or none did; any other is refused', async () => {
    const world = await World.create();
    const work = await Asking.create(world);
    const other = await Asking.create(world, { name: 'other' });
    const permissions = ['coordination_read', 'coordination_write'];
    const key = await world.key(permissions, undefined, { mailboxes: [work.mailboxId] });
    const headers = { Authorization: `Bearer ${key}` };
    const [mine, theirs] = [(await work.asked()).question.id, (await other.asked()).question.id];
    const free = (await world.mustPost('/questions', { scopeId: work.scopeId, question: 1 })).id;
    const calls = async (id: string): Promise<string[]> => {
      const post = (path: string, body?: object): Promise<Reply> =>
        world.post(`/questions/${id}/${path}`, body, headers);
      return [
        await world.call('GET', `/questions/${id}`, undefined, headers),
        await post('link'),
        await post('answer', { answer: 1, answeredBy: 'ann' }),
        await post('withdraw'),
      ].map(codeOf);
    };
    expect(await calls(theirs)).to.deep.equal(Array(4).fill('403 PERMISSION_DENIED'));
    for (const id of [mine, free]) expect(await calls(id)).to.deep.equal(['200', '200', '200', '409 QUESTION_CLOSED']);
    expect(codeOf(await world.call('GET', `/questions/${randomUUID()}`, undefined, headers))).to.equal(
      '404 QUESTION_NOT_FOUND',
    );
    const listed = (await world.call('GET', '/questions', undefined, headers)).body.questions;
    expect(listed.map(({ id }: { id: string }) => id)).to.have.members([mine, free]);
  });
});

describe('the questions of a run', () => {
  it('end in one step of its cancel, as it ends 250 records, if they are 200', async () => {
    const world = await World.create();
    const scopeId = randomUUID();
    const ask = () => world.mustPost('/questions', { scopeId, question: 1 });
    for (let i = 0; i < 4; i++) await Promise.all(Array.from({ length: 50 }, ask));
    const { done, cancelled } = await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect([done, cancelled.questions]).to.deep.equal([true, 200]);
    expect((await world.get('/census')).body.questions).to.include({ OPEN: 0, WITHDRAWN: 200 });
  });

  it('are withdrawn by its cancel, not expired, although their time ends before a step reaches them', async () => {
    const { run } = await filled();
    const { world, scopeId } = run;
    const start = Date.now();
    await world.at(start);
    const { id } = await world.mustPost('/questions', { scopeId, question: 1, expiresInSeconds: 5 });
    expect((await run.cancel()).body.done).to.equal(false);
    await world.at(start + 6_000);
    const late = { answer: 1, answeredBy: 'ann' };
    expect(codeOf(await world.post(`/questions/${id}/answer`, late))).to.equal('409 QUESTION_CLOSED');
    expect((await world.get(`/questions/${id}`)).body.state).to.equal('WITHDRAWN');
    await run.worked();
    expect((await world.get('/census')).body.questions).to.include({ WITHDRAWN: 1, EXPIRED: 0 });
    expect((await run.cancel()).body.cancelled.questions).to.equal(1);
    await expectAgreement(world);
  });
});
