import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { allPermissions, codeOf, World } from '../support/world.ts';
import { Provider } from './provider.ts';
import { post, serviceFor } from './signed-in.ts';

/** A client that a model's host runs: it keeps what it learns in memory. */
class Memory implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:1/callback';
  readonly clientMetadata = { client_name: 'test', redirect_uris: [this.redirectUrl] };
  sentTo: URL | undefined;
  #client: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>;
  #tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>;
  #discovered: Awaited<ReturnType<NonNullable<OAuthClientProvider['discoveryState']>>>;
  #verifier = '';

  clientInformation() {
    return this.#client;
  }
  saveClientInformation(client: NonNullable<ReturnType<Memory['clientInformation']>>) {
    this.#client = client;
  }
  tokens() {
    return this.#tokens;
  }
  saveTokens(tokens: NonNullable<ReturnType<Memory['tokens']>>) {
    this.#tokens = tokens;
  }
  saveDiscoveryState(discovered: NonNullable<ReturnType<Memory['discoveryState']>>) {
    this.#discovered = discovered;
  }
  discoveryState() {
    return this.#discovered;
  }
  redirectToAuthorization(url: URL) {
    this.sentTo = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
}

describe('A real authorization server', () => {
  let provider: Provider;
  let service: MusterService;
  let world: World;
  const read = async (token: string, path = '/mailboxes'): Promise<string> =>
    codeOf(await world.call('GET', path, undefined, { Authorization: `Bearer ${token}` }));

  beforeEach(async () => {
    provider = await Provider.at();
    // The start does not need it.
    service = await serviceFor(provider.url);
    world = await World.create({ on: service });
  });
  afterEach(async () => {
    await provider?.stop();
    await service?.stop();
  });

  it('gives programs tokens for Muster, before and after it has changed its keys; API keys need it for nothing', async () => {
    await provider.start();
    await provider.grant({ org: world.org, permissions: ['coordination_read'] });
    const first = await provider.token();
    expect(await read(first)).to.equal('200');
    await provider.rotate();
    const second = await provider.token();
    expect(await read(second)).to.equal('200');
    // The keys have been replaced, and the first token's is no longer among them.
    expect(await read(first)).to.equal('401 INVALID_API_KEY');

    await provider.stop();
    expect(await read(second)).to.equal('200');
    expect(codeOf(await world.get('/mailboxes'))).to.equal('200');

    const another = await serviceFor(provider.url);
    const there = async (key: string): Promise<number> => {
      const headers = { Authorization: `Bearer ${key}` };
      return (await fetch(`${another.url}/v1/spaces/${world.spaceId}/mailboxes`, { headers })).status;
    };
    expect([await there(second), await there(world.apiKey)]).to.deep.equal([401, 200]);
    await another.stop();
  });

  it('signs in an MCP client by itself, which knows nothing but the address', async () => {
    await provider.start();
    await provider.grant({ org: world.org, permissions: allPermissions });
    const url = new URL(`${world.url}/v1/spaces/${world.spaceId}/mcp`);
    const memory = new Memory();
    const connect = async (): Promise<Client> => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider: memory }));
      return client;
    };
    const failure = await connect().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(UnauthorizedError);
    const { sentTo } = memory;
    expect(sentTo?.origin).to.equal(provider.url);
    expect(sentTo?.searchParams.get('resource')).to.equal(url.href);
    const back = await provider.signIn(String(sentTo));
    const transport = new StreamableHTTPClientTransport(url, { authProvider: memory });
    await transport.finishAuth(back.searchParams);
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).to.include.members(['message_send', 'budget_reserve']);
    await client.close();

    // This token is for that address alone.
    const token = memory.tokens()?.access_token ?? '';
    expect(await read(token)).to.equal('401 INVALID_API_KEY');
    const other = await world.anotherSpace();
    const ask = async ({ spaceId }: World): Promise<number> =>
      (await post(`${world.url}/v1/spaces/${spaceId}/mcp`, token)).status;
    expect([await ask(world), await ask(other)]).to.deep.equal([200, 401]);
  });
});
