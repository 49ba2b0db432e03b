// Posts each question to a Slack channel, with a link to the page that answers it. Use it as a destination for
// `question.asked`.
import { createServer } from 'node:http';
import { createMuster, type MusterError, verifyWebhook } from 'muster-client';

const { MUSTER_URL: url, MUSTER_KEY: key, MUSTER_SPACE: spaceId, SECRET = '', SLACK_URL = '', PORT } = process.env;
const muster = createMuster({ url, key, spaceId });
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

async function post(questionId: string): Promise<void> {
  const { question, holder } = await muster.question.view({ questionId });
  const { answerUrl } = await muster.question.link({ questionId });
  const asked = typeof question === 'string' ? question : JSON.stringify(question);
  const text = `${escaped(holder ?? 'Somebody')} asks: ${escaped(asked)} <${answerUrl}|Answer>`;
  const body = JSON.stringify({ text, unfurl_links: false });
  const { ok, status } = await fetch(SLACK_URL, { method: 'POST', body });
  if (!ok) throw new Error(`Slack answers ${status}`);
}

createServer(async (request, response) => {
  try {
    const { data } = await verifyWebhook(Buffer.concat(await request.toArray()), request.headers, SECRET);
    if (data.type === 'question.asked') await post(data.payload.questionId);
    response.writeHead(204).end();
  } catch (error) {
    // Somebody may have answered already. After any other error Muster tries again.
    response.writeHead((error as MusterError).code === 'QUESTION_CLOSED' ? 204 : 500).end();
  }
}).listen(Number(PORT ?? 9000));
