import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Asking } from '../spec/question/questions.ts';
import { expectAgreement } from '../support/agree.ts';
import { World } from '../support/world.ts';
import { asked, visit } from './answers.ts';

const hour = 3_600_000;

describe('the page of a question', () => {
  let world: World;
  let start: number;
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
  });

  it('says what is asked, by whom, for which work and until when; its form answers, and the message goes on', async () => {
    const work = await Asking.create(world, { name: 'reports <&>' });
    await world.mustPost('/scopes', { scopeId: work.scopeId, name: 'nightly' });
    const { id, question } = await work.asked({ question: 'Publish "a" <b>?', options: ['yes', 'no & never'] });
    const page = await visit(question.answerUrl);
    expect(page.status).to.equal(200);
    for (const part of [
      'Publish &quot;a&quot; &lt;b&gt;?',
      'worker-1',
      'reports &lt;&amp;&gt;',
      'nightly',
      'value="no &amp; never"',
      'in 7 days',
    ])
      expect(page.text).to.include(part);
    for (const hidden of [id, question.id, work.scopeId, world.spaceId]) expect(page.text).to.not.include(hidden);
    // A look changes nothing, however often: mail programs open links.
    expect((await visit(question.answerUrl, undefined, 'HEAD')).status).to.equal(200);
    expect((await work.question(question.id)).state).to.equal('OPEN');

    const done = await visit(question.answerUrl, { answer: 'no & never', answeredBy: ' Ann ' });
    expect(done.status).to.equal(200);
    expect(done.text).to.include('no &amp; never').and.to.include('Ann');
    expect(await work.question(question.id)).to.include({
      state: 'ANSWERED',
      answer: 'no & never',
      answeredBy: 'Ann',
      answeredVia: 'PAGE',
    });
    expect((await work.recv()).question.answer).to.equal('no & never');
    for (const again of [
      await visit(question.answerUrl),
      await visit(question.answerUrl, { answer: 'yes', answeredBy: 'Bob' }),
    ]) {
      expect(again.status).to.equal(410);
      expect(again.text).to.include('This question is answered').and.to.include('Ann');
      expect(again.text).to.not.include('no &amp; never').and.to.not.include('Publish');
    }
    await expectAgreement(world);
  });

  it('shows hidden characters as the console does, and sends the option as it is', async () => {
    const work = await Asking.create(world, { name: 'reports\u2066' });
    const options = ['yes', 'yes\u200b', '\u202eon'];
    const { question } = await work.asked({ question: 'Delete \u202efdp.exe?', options });
    const page = await visit(question.answerUrl);
    for (const part of [
      'Delete &lt;U+202E&gt;fdp.exe?',
      'reports&lt;U+2066&gt;',
      'value="yes\u200b">yes&lt;U+200B&gt;</button>',
      'value="\u202eon">&lt;U+202E&gt;on</button>',
    ])
      expect(page.text).to.include(part);
    const done = await visit(question.answerUrl, { answer: 'yes\u200b', answeredBy: 'Ann\u202e' });
    expect(done.text).to.include('yes&lt;U+200B&gt;').and.to.include('Ann&lt;U+202E&gt;');
    expect((await work.question(question.id)).answer).to.equal('yes\u200b');
    const closed = await visit(question.answerUrl);
    expect(closed.text).to.include('Ann&lt;U+202E&gt;').and.not.include('\u202e');
  });

  it('takes any text where there are no options, and shows other JSON as it is', async () => {
    const { answerUrl, id } = await asked(world, { question: { n: 1, list: [], of: [1, { a: null }] } });
    expect((await visit(answerUrl)).text).to.include('{\n  &quot;n&quot;: 1,\n  &quot;list&quot;: [],\n');
    const text = ' {"a": 1}\r\n<script>alert(1)</script> ✓';
    const done = await visit(answerUrl, { answer: text, answeredBy: 'Ann' });
    expect(done.text).to.include('&lt;script&gt;').and.to.not.include('<script');
    expect((await world.get(`/questions/${id}`)).body.answer).to.equal(text.replace('\r\n', '\n'));
  });

  it('shows the form again, with what was typed, where that is no answer', async () => {
    const free = await asked(world);
    const chosen = await asked(world, { options: ['yes', 'no'] });
    await world.call('PUT', '/limits', { maxPayloadBytes: 10 });
    const cases = [
      [free, { answer: '', answeredBy: 'Ann' }, 400],
      [free, { answer: 'x', answeredBy: '  ' }, 400],
      [free, { answer: 'x', answeredBy: 'x'.repeat(257) }, 400],
      [free, { answer: 'x', answeredBy: 'a\u0007b' }, 400],
      [free, { answer: 'far too long', answeredBy: 'Ann' }, 413],
      [free, { answer: 'x'.repeat(300_000), answeredBy: 'Ann' }, 413],
      [chosen, { answer: 'maybe', answeredBy: 'Ann' }, 400],
      [chosen, { answeredBy: 'Ann' }, 400],
    ] as const;
    for (const [{ answerUrl }, fields, status] of cases) {
      const page = await visit(answerUrl, fields as unknown as Record<string, string>);
      expect(page.status, JSON.stringify(fields).slice(0, 80)).to.equal(status);
    }
    const page = await visit(free.answerUrl, { answer: '<x>', answeredBy: '' });
    expect(page.text).to.include('&lt;x&gt;</textarea>').and.to.include('role="alert"');
    for (const { id } of [free, chosen]) expect((await world.get(`/questions/${id}`)).body.state).to.equal('OPEN');
    const json = await fetch(free.answerUrl, {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(json.status).to.equal(415);
    expect((await visit(free.answerUrl, undefined, 'PUT')).status).to.equal(405);
  });

  it('is gone once nobody can answer: expired, withdrawn, or its run cancelled', async () => {
    const expired = await asked(world, { expiresInSeconds: 5 });
    const withdrawn = await asked(world);
    const scopeId = randomUUID();
    const stopped = await asked(world, { scopeId });
    await world.mustPost(`/questions/${withdrawn.id}/withdraw`);
    await world.mustPost(`/scopes/${scopeId}/cancel`);
    await world.at(start + 5000);
    const words = {
      [expired.answerUrl]: 'It is too late',
      [withdrawn.answerUrl]: 'withdrawn',
      [stopped.answerUrl]: 'withdrawn',
    };
    for (const [url, word] of Object.entries(words))
      for (const page of [await visit(url), await visit(url, { answer: 'x', answeredBy: 'Ann' })]) {
        expect(page.status).to.equal(410);
        expect(page.text).to.include(word);
      }
    await world.service.due.drain(world.org);
    expect((await world.get(`/questions/${expired.id}`)).body).to.include({ state: 'EXPIRED', answer: null });
  });

  it('has further links, each of which answers once for all; they say whose host they have', async () => {
    const { id, answerUrl } = await asked(world);
    const { body } = await world.post(`/questions/${id}/link`);
    expect(body.answerUrl).to.not.equal(answerUrl);
    const key = { 'Idempotency-Key': 'k' };
    const once = await world.post(`/questions/${id}/link`, undefined, key);
    expect((await world.post(`/questions/${id}/link`, undefined, key)).text).to.equal(once.text);
    expect((await visit(body.answerUrl, { answer: 'x', answeredBy: 'Ann' })).status).to.equal(200);
    for (const url of [answerUrl, body.answerUrl, once.body.answerUrl]) expect((await visit(url)).status).to.equal(410);
    const many = await asked(world);
    for (let i = 1; i < 100; i++) await world.mustPost(`/questions/${many.id}/link`);
    const { status, body: refused } = await world.post(`/questions/${many.id}/link`);
    expect([status, refused.error.code]).to.deep.equal([409, 'LINKS_FULL']);
  });

  it('answers once, however many send it at the same time', async () => {
    const { id } = await asked(world);
    const links: string[] = [];
    for (let i = 0; i < 40; i++) links.push((await world.mustPost(`/questions/${id}/link`)).answerUrl);
    const all = await Promise.all(links.map((url, i) => visit(url, { answer: `${i}`, answeredBy: `p${i}` })));
    expect(all.filter(({ status }) => status === 200)).to.have.length(1);
    expect(all.filter(({ status }) => status === 410)).to.have.length(39);
    const won = all.findIndex(({ status }) => status === 200);
    expect((await world.get(`/questions/${id}`)).body).to.include({ answer: `${won}`, answeredBy: `p${won}` });
  });

  it('has headers that keep it from being stored, framed, indexed or told of', async () => {
    const { answerUrl } = await asked(world);
    const pages = [
      await visit(answerUrl),
      await visit(`${world.url}/answer/none`),
      await visit(answerUrl, undefined, 'PUT'),
      await visit(answerUrl, { answer: '', answeredBy: '' }),
      await visit(answerUrl, { answer: 'x', answeredBy: 'Ann' }),
      await visit(answerUrl),
    ];
    expect(pages.map(({ status }) => status)).to.deep.equal([200, 404, 405, 400, 200, 410]);
    for (const { headers } of pages) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).to.include("default-src 'none'").and.to.include("frame-ancestors 'none'");
      expect(policy).to.include("form-action 'self'").and.to.not.include('script');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('x-robots-tag')).to.include('noindex');
      expect(headers.get('content-type')).to.equal('text/html; charset=utf-8');
    }
  });

  it('counts as recovery calls of its space, and its answer as an operation', async () => {
    const { answerUrl } = await asked(world);
    await world.call('PUT', '/limits', { requestsPerMinute: 1 });
    expect((await world.get('/budgets')).status).to.equal(429);
    expect((await visit(answerUrl)).status).to.equal(200);
    expect((await visit(answerUrl, { answer: 'x', answeredBy: 'Ann' })).status).to.equal(200);
    await world.at(start + 60_000);
    expect((await world.get('/usage')).body.days.at(-1).byCall).to.include({ 'question.answer': 1 });
  });
});

describe('links that lead nowhere', () => {
  it('are 404 ten times a second, then 429; those of a question work all the same', async () => {
    const world = await World.create();
    const { answerUrl } = await asked(world);
    const unknown = [
      ...[
        `${answerUrl.slice(0, -1)}${answerUrl.endsWith('A') ? 'B' : 'A'}`,
        `${answerUrl}x`,
        answerUrl.replace(world.org, 'nobody'),
      ],
      ...[`${world.url}/answer/`, `${world.url}/answer/%00`, `${world.url}/answer/${world.apiKey}`],
    ];
    let statuses: number[] = [];
    // A second may end in between.
    for (let tries = 0; tries < 5 && !statuses.includes(429); tries++)
      statuses = await Promise.all(
        Array.from({ length: 60 }, async (_, i) => (await visit(unknown[i % 6] as string)).status),
      );
    expect(new Set(statuses)).to.deep.equal(new Set([404, 429]));
    expect((await visit(answerUrl)).status).to.equal(200);
  });

  it('are no API keys, nor the other way round', async () => {
    const world = await World.create();
    const { answerUrl, id } = await asked(world);
    const token = answerUrl.split('/').at(-1);
    for (const key of [token, `mk_${token}`, token.split('_')[1]]) {
      const { status } = await world.call('GET', `/questions/${id}`, undefined, { Authorization: `Bearer ${key}` });
      expect(status).to.equal(401);
    }
  });
});
