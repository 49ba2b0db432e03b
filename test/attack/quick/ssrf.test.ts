import { expect } from 'chai';
import { resolver } from '../../../src/primitives/webhook/resolve.ts';
import { isPublic } from '../../../src/primitives/webhook/target.ts';
import type { MusterService } from '../../../src/service.ts';
import { Names } from '../../support/names.ts';
import { Sink } from '../../support/sink.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

/** Private addresses, in every form that a URL parser, a resolver or a translator could accept. */
const insideHosts = [
  '127.1 127.0.0.1. 0 0.0 00.0 0000 0x7f.1 0x7f000001 017700000001 2130706433 0177.0.0.1 127.0x0.1 %31%32%37.0.0.1',
  '①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1 ①２７.1 １０.0.0.1 169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376',
  '10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.100.100.200 168.63.129.16 192.0.0.192 198.18.0.1',
  '224.0.0.1 240.0.0.1 255.255.255.255 192.0.2.1 198.51.100.7 203.0.113.7 192.88.99.1',
  '[::] [::1] [::127.0.0.1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:0:127.0.0.1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::10.0.0.1] [2002:7f00:1::] [2002:a9fe:a9fe::1] [2001:0:7f00:1::] [2001:db8::1] [fe80::1] [fec0::1] [fc00::1]',
  '[fd00:ec2::254] [ff02::1] [100::1] [2001:2::1] [3fff::1] [5f00::1] localhost ⓛocalhost localhost. LOCALHOST loc%61lhost',
]
  .join(' ')
  .split(' ');

/** No valid URLs of a host that could be called. */
const noUrls = [
  ...['http://example.com:0/', 'http://example.com:00/', 'http://example.com:65536/', 'http://[fe80::1%25eth0]/'],
  ...['http://user@example.com/', 'http://:pw@example.com/', 'http://example.com@127.0.0.1/', 'http:127.0.0.1/'],
  ...['http:\\\\127.0.0.1\\', '//127.0.0.1/', 'file:///etc/passwd', 'gopher://127.0.0.1/', 'unix:///run/x.sock'],
  ...[
    'http://127.0.0.1%00.example.com/',
    'http://exa mple.com/',
    'http://example.com/\r\nX: y',
    ' http://example.com/',
  ],
  ...['http://1.1.1.1:80:80/', 'http://[::1]x/', 'http://256.256.256.256/', 'http://a..%/', 'javascript:alert(1)'],
];

describe('Webhooks to private addresses', () => {
  let names: Names;
  let sink: Sink;
  let service: MusterService;
  let world: World;

  before(async () => {
    names = await Names.start();
    sink = await Sink.start();
    service = await delivering({ webhookAllowPrivate: false, resolve: resolver([names.server]) });
    world = await World.create({ on: service });
  });
  after(async () => {
    await service.stop();
    await sink.stop();
    names.stop();
  });

  const create = (url: string) => world.post('/destinations', { url, eventTypes: ['limits.updated'] });
  const code = async (url: string): Promise<string> => (await create(url)).body.error?.code ?? 'accepted';
  /** The errorCode of a test delivery to a destination that was accepted. */
  async function attemptAt(url: string): Promise<string> {
    const { id } = (await create(url)).body;
    const { errorCode } = await world.mustPost(`/destinations/${id}/test`);
    await world.call('DELETE', `/destinations/${id}`);
    return errorCode;
  }

  it('are refused at creation, in any notation, and by PATCH', async () => {
    for (const host of insideHosts) expect(await code(`http://${host}/`), host).to.equal('DESTINATION_URL_FORBIDDEN');
    const { id } = (await create('https://not-yet.test/')).body;
    for (const host of ['0x7f.1', '[::ffff:7f00:1]', 'localhost']) {
      const patched = await world.call('PATCH', `/destinations/${id}`, { url: `http://${host}/` });
      expect(patched.body.error?.code, host).to.equal('DESTINATION_URL_FORBIDDEN');
    }
    await world.call('DELETE', `/destinations/${id}`);
  });

  it('are 400 VALIDATION_FAILED if the URL cannot be called at all', async () => {
    for (const url of noUrls) expect(await code(url), url).to.equal('VALIDATION_FAILED');
  });

  it('are refused at creation if a name resolves to one: directly, among others, by IPv6, through a chain of names', async () => {
    names.set('direct.test', '127.0.0.1');
    names.set('among.test', '93.184.215.14', '10.0.0.1');
    names.set('six.test', '::ffff:7f00:1');
    names.set('chain.test', 'hop-1.test');
    names.set('hop-1.test', 'hop-2.test');
    names.set('hop-2.test', '169.254.169.254');
    for (const name of ['direct.test', 'among.test', 'six.test', 'chain.test', 'CHAIN.test', 'chain.test.'])
      expect(await code(`http://${name}/`), name).to.equal('DESTINATION_URL_FORBIDDEN');
  });

  it('are refused when connecting if only then the name resolves to one: nothing arrives', async () => {
    for (const later of [['127.0.0.1'], ['127.0.0.1', '93.184.215.14'], ['::1'], ['inside.test'], ['::ffff:7f00:1']]) {
      names.set('rebind.test', '93.184.215.14');
      names.set('inside.test', '127.0.0.1');
      const { id } = (await create(`http://rebind.test:${sink.port}/`)).body;
      names.set('rebind.test', ...later);
      const attempt = await world.mustPost(`/destinations/${id}/test`);
      expect(attempt, later.join()).to.include({ errorCode: 'TARGET_FORBIDDEN', responseStatus: null });
      await world.call('DELETE', `/destinations/${id}`);
    }
    // Names that do not resolve yet are accepted, and checked when connecting.
    names.set('later.test');
    const { id } = (await create(`http://later.test:${sink.port}/`)).body;
    names.set('later.test', '127.0.0.1');
    expect((await world.mustPost(`/destinations/${id}/test`)).errorCode).to.equal('TARGET_FORBIDDEN');
    expect(sink.received).to.have.length(0);
  });

  it('are not reached by redirects: the attempt fails', async () => {
    const open = await delivering({ webhookAllowPrivate: true });
    const openWorld = await World.create({ on: open });
    for (const [status, location] of [
      [301, 'http://169.254.169.254/'],
      [302, '/inside'],
      [303, '/inside'],
      [307, '/inside'],
      [308, '/inside'],
    ] as const) {
      sink.answer = (response) => response.writeHead(status, { Location: location }).end();
      const { id } = await openWorld.mustPost('/destinations', {
        url: `${sink.url}/hook`,
        eventTypes: ['limits.updated'],
      });
      expect(await openWorld.mustPost(`/destinations/${id}/test`)).to.include({
        errorCode: 'REDIRECTED',
        responseStatus: status,
      });
      await openWorld.call('DELETE', `/destinations/${id}`);
    }
    expect(sink.at('/inside')).to.have.length(0);
    await open.stop();
  });

  it('are not reached by names that are unknown or refer to each other: the attempt fails', async () => {
    names.set('loop-1.test', 'loop-2.test');
    names.set('loop-2.test', 'loop-1.test');
    for (const name of ['loop-1.test', 'unknown.test'])
      expect(await attemptAt(`http://${name}/`), name).to.equal('NAME_NOT_RESOLVED');
  });

  it('include every range that is not globally reachable, also with a zone', () => {
    for (const address of [
      'fe80::1%eth0',
      '192.31.196.1',
      '192.52.193.1',
      '192.175.48.1',
      '2620:4f:8000::1',
      '::a00:1',
    ])
      expect(isPublic(address), address).to.equal(false);
  });
});
