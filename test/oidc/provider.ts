import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { freePort } from '../fault/redis-server.ts';

const program = fileURLToPath(new URL('provider.mjs', import.meta.url));

/** A real authorization server, in a process of its own. */
export class Provider {
  readonly url: string;
  readonly #port: number;
  readonly #redirectUri: string;
  #process: ChildProcess | undefined;

  private constructor(port: number, redirectUri: string) {
    this.#port = port;
    this.#redirectUri = redirectUri;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** Creates a server that is not running yet. redirectUri: of its client `console`. */
  static async at(redirectUri = 'https://muster.test/console/sign-in'): Promise<Provider> {
    return new Provider(await freePort(), redirectUri);
  }

  async start(): Promise<this> {
    // Its warnings say that this is no production.
    const child = fork(program, [String(this.#port), this.#redirectUri], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    endAtExit(child);
    this.#process = child;
    await once(child, 'message');
    return this;
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (!child) return;
    child.kill();
    await once(child, 'exit');
  }

  /** Sets the claim `muster` of the tokens that it makes from now on. */
  grant(claim: object): Promise<void> {
    return this.#tell({ claim });
  }

  /** Replaces its keys. */
  rotate(): Promise<void> {
    return this.#tell({ rotate: true });
  }

  async #tell(message: object): Promise<void> {
    this.#process?.send(message);
    if (this.#process) await once(this.#process, 'message');
  }

  /** A token of a program, by client credentials. */
  async token(resource?: string): Promise<string> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      scope: 'muster',
      ...(resource && { resource }),
    });
    const login = Buffer.from('robot:its%20secret').toString('base64');
    const answer = await fetch(`${this.url}/token`, {
      method: 'POST',
      body,
      headers: { Authorization: `Basic ${login}` },
    });
    const { access_token: token, ...rest } = (await answer.json()) as { access_token?: string };
    if (token === undefined) throw new Error(JSON.stringify(rest));
    return token;
  }

  /** Signs in like a browser that is redirected to this address; returns the address that it is redirected back to. */
  async signIn(address: string): Promise<URL> {
    const cookies = new Map<string, string>();
    let url = new URL(address);
    let method = 'GET';
    for (let steps = 0; url.origin === this.url; steps++) {
      if (steps > 10) throw new Error(`it leads nowhere: ${url}`);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const answer = await fetch(url, { method, redirect: 'manual', headers: { Cookie: cookie } });
      for (const line of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? [];
        cookies.set(name, value);
      }
      const location = answer.headers.get('Location');
      if (location === null && answer.status !== 200) throw new Error(`${url}: ${await answer.text()}`);
      // The page to sign in: its only button.
      method = location === null ? 'POST' : 'GET';
      if (location !== null) url = new URL(location, url);
    }
    return url;
  }
}
