import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import type { MusterService } from '../../src/service.ts';
import { visit } from '../answer/answers.ts';
import { freePort } from '../fault/redis-server.ts';
import { findPython } from '../support/python.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const link = /http:\/\/\S+\/answer\/[\w-]+/;

/** Starts a server on a free port, and returns that. */
async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Takes mail as an SMTP server does, and keeps what was sent. */
function mailServer(mails: string[]): Server {
  return createServer((socket) => {
    let text = '';
    let mail: string | undefined;
    socket.on('error', () => undefined);
    socket.write('220 stand-in\r\n');
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data;
      for (let end = text.indexOf('\r\n'); end !== -1; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (mail !== undefined && line !== '.') mail += `${line}\n`;
        else if (mail !== undefined) {
          // Long lines are folded: quoted-printable.
          mails.push(mail.replaceAll('=\n', '').replaceAll('=3D', '='));
          mail = undefined;
          socket.write('250 kept\r\n');
        } else if (line.toUpperCase() === 'DATA') {
          mail = '';
          socket.write('354 go on\r\n');
        } else if (line.toUpperCase() === 'QUIT') socket.end('221 bye\r\n');
        else socket.write('250 ok\r\n');
      }
    });
  });
}

describe('docs/receivers', () => {
  let service: MusterService;
  let world: World;
  before(async () => {
    service = await delivering();
  });
  beforeEach(async () => {
    world = await World.create({ on: service });
  });
  after(() => service.stop());

  /** Runs a receiver as a destination of the space, until the returned function is called. */
  async function receiving(command: string, args: string[], env: Record<string, string>): Promise<() => void> {
    const port = await freePort();
    const destination = { url: `http://127.0.0.1:${port}/`, eventTypes: ['question.asked'] };
    const { signingSecret } = await world.mustPost('/destinations', destination);
    const settings = { MUSTER_URL: world.url, MUSTER_KEY: world.apiKey, MUSTER_SPACE: world.spaceId };
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...settings, SECRET: signingSecret, PORT: `${port}`, ...env },
      stdio: 'ignore',
    });
    endAtExit(child);
    for (let isUp = false; !isUp; ) {
      const socket = connect(port, '127.0.0.1');
      isUp = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'close').then(() => false),
      ]).catch(() => false);
      socket.destroy();
      if (!isUp) await sleep(50);
    }
    return () => child.kill();
  }

  /** Asks, waits until the stand-in has got the question, and answers on the page that it is led to. */
  async function answered(said: readonly string[]): Promise<string> {
    const question = 'Publish <it> & tell?';
    const { id } = await world.mustPost('/questions', { scopeId: randomUUID(), question, holder: 'worker-1' });
    while (said.length === 0) await sleep(20);
    const [text = ''] = said;
    const [url = ''] = link.exec(text) ?? [];
    expect((await visit(url, { answer: 'yes', answeredBy: 'ann' })).status, text).to.equal(200);
    expect((await world.get(`/questions/${id}`)).body).to.include({ answer: 'yes', answeredVia: 'PAGE' });
    return text;
  }

  it('slack.ts posts a question to a channel, with the link that answers it', async () => {
    const posted: string[] = [];
    const slack = createHttpServer(async (request, response) => {
      posted.push(JSON.parse(Buffer.concat(await request.toArray()).toString()).text);
      response.end('ok');
    });
    const port = await listening(slack);
    const stop = await receiving(process.execPath, ['--import', 'tsx', join(root, 'docs/receivers/slack.ts')], {
      SLACK_URL: `http://127.0.0.1:${port}/services/T0/B0/x`,
    });
    const text = await answered(posted);
    expect(text).to.match(/^worker-1 asks: Publish &lt;it&gt; &amp; tell\? <http\S+\|Answer>$/);
    stop();
    slack.close();
  });

  it('mail.py mails a question, with the link that answers it', async () => {
    const mails: string[] = [];
    const server = mailServer(mails);
    const python = await findPython();
    const stop = await receiving(python.command, [join(root, 'docs/receivers/mail.py')], {
      ...(python.env as Record<string, string>),
      PYTHONPATH: join(root, 'src/clients/python'),
      ...{ SMTP_HOST: '127.0.0.1', SMTP_PORT: `${await listening(server)}` },
      ...{ MAIL_FROM: 'muster@example.com', MAIL_TO: 'ann@example.com' },
    });
    const text = await answered(mails);
    expect(text).to.include('Subject: worker-1 asks').and.to.include('Publish <it> & tell?');
    expect(text).to.include('To: ann@example.com');
    stop();
    server.close();
  });
});
