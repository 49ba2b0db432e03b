import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';
import { expect } from 'chai';
import { resolver } from '../../../src/primitives/webhook/resolve.ts';
import { isPublic } from '../../../src/primitives/webhook/target.ts';

describe('The host of a destination', () => {
  let silent: Socket;
  before(async () => {
    silent = createSocket('udp4').bind(0, '127.0.0.1');
    await once(silent, 'listening');
  });
  after(() => silent.close());

  it('does not delay others if its name server never answers', async () => {
    const { port } = silent.address();
    let ended = 0;
    const hanging = Array.from({ length: 20 }, (_, i) =>
      resolver(
        [`127.0.0.1:${port}`],
        2_000,
      )(`slow-${i}.test`)
        .catch((error) => error)
        .finally(() => ended++),
    );
    const found = await resolver()('localhost');
    expect(ended).to.equal(0);
    expect(found.map(({ address }) => address)).to.include('127.0.0.1');
    for (const { address, family } of found) expect(family).to.equal(isIP(address));
    for (const error of await Promise.all(hanging)) expect(error.code).to.equal('ETIMEOUT');
  });

  it('is recognized as private in every notation of an address', () => {
    const inside = [
      '127.0.0.1',
      '10.0.0.1',
      '169.254.169.254',
      '168.63.129.16',
      '::1',
      '::',
      'fe80::1',
      'fd00::1',
      '::ffff:127.0.0.1',
      '::ffff:168.63.129.16',
      '::ffff:a83f:8110',
      '::127.0.0.1',
      '4000::1',
      '64:ff9b::7f00:1',
      'localhost',
    ];
    for (const address of inside) expect(isPublic(address), address).to.equal(false);
    for (const address of ['93.184.216.34', '2606:4700:4700::1111', '::ffff:93.184.216.34']) {
      expect(isPublic(address), address).to.equal(true);
    }
  });
});
