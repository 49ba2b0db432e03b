import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { dropUnfinished } from '../../src/embedded/unfinished.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { until } from './processes.ts';

const slots = 16_384;
/** A node silent for this long is considered dead, and its replica takes over. */
export const nodeTimeoutMs = 1_000;

/** One redis-server of a cluster, on 127.0.0.1. */
export class ClusterNode {
  readonly port: number;
  readonly admin: Redis;
  readonly #settings: Readonly<Record<string, string>>;
  #process: ChildProcess | undefined;
  #hangs = false;

  private constructor(port: number, settings: Readonly<Record<string, string>>) {
    this.port = port;
    this.#settings = settings;
    const options = { protocol: 2 as const, lazyConnect: true, retryStrategy: () => 10, maxRetriesPerRequest: null };
    this.admin = new Redis(port, '127.0.0.1', options);
    this.admin.on('error', () => undefined);
  }

  static async start(parent: string): Promise<ClusterNode> {
    const [port, busPort] = await freePorts();
    const dir = join(parent, String(port));
    await mkdir(dir);
    const node = new ClusterNode(port, {
      port: String(port),
      'cluster-port': String(busPort),
      bind: '127.0.0.1',
      dir,
      'cluster-enabled': 'yes',
      // A node knows its own address only once it has met another one.
      'cluster-announce-ip': '127.0.0.1',
      'cluster-node-timeout': String(nodeTimeoutMs),
      'cluster-require-full-coverage': 'no',
      'cluster-allow-replica-migration': 'no',
      'repl-diskless-sync-delay': '0',
      save: '',
      appendonly: 'yes',
      logfile: 'redis.log',
    });
    await node.up();
    return node;
  }

  /** Starts or restarts it; resolves when its data is loaded. */
  async up(more: Readonly<Record<string, string>> = {}): Promise<void> {
    const program = await findRedisServer({ log: () => undefined });
    // As the README recommends.
    await dropUnfinished(String(this.#settings['dir']), program);
    const { command, env } = program;
    const settings = Object.entries({ ...this.#settings, ...more });
    const words = settings.flatMap(([name, value]) => [`--${name}`, value]);
    const started = spawn(command, words, { env, stdio: 'ignore' });
    this.#process = started;
    endAtExit(started, 'SIGKILL');
    await this.admin.ping();
  }

  get isUp(): boolean {
    return !this.#hangs && this.#process?.exitCode === null && this.#process.signalCode === null;
  }

  /** Suspends it: its connections stay open, but it answers nothing until it resumes. */
  hang(): void {
    this.#hangs = this.#process?.kill('SIGSTOP') ?? false;
  }

  goOn(): void {
    this.#process?.kill('SIGCONT');
    this.#hangs = false;
  }

  async kill(): Promise<void> {
    const running = this.#process;
    this.#hangs = false;
    if (!running || !this.isUp) return;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
  }

  cluster(...words: (string | number)[]): Promise<unknown> {
    return this.admin.call('CLUSTER', ...words.map(String));
  }

  async id(): Promise<string> {
    return String(await this.cluster('MYID'));
  }
}

/** A cluster of real processes: masters that share the slots, each with its replicas. */
export class TestCluster {
  readonly masters: readonly ClusterNode[];
  readonly replicas: readonly ClusterNode[];
  readonly #dir: string;

  private constructor(dir: string, masters: readonly ClusterNode[], replicas: readonly ClusterNode[]) {
    this.#dir = dir;
    this.masters = masters;
    this.replicas = replicas;
  }

  get nodes(): readonly ClusterNode[] {
    return [...this.masters, ...this.replicas];
  }

  /** The URL of one node, which leads to the others. */
  get url(): string {
    return `redis://127.0.0.1:${this.masters[0]?.port}`;
  }

  static async start(masters: number, replicasEach = 0): Promise<TestCluster> {
    const cluster = await TestCluster.form(masters, replicasEach);
    await cluster.writable();
    return cluster;
  }

  /** Resolves when the nodes know each other. They accept no writes before they have run for two seconds. */
  static async form(masters: number, replicasEach = 0): Promise<TestCluster> {
    const dir = await mkdtemp(join(tmpdir(), 'muster-cluster-'));
    const started: ClusterNode[] = [];
    for (let i = 0; i < masters * (1 + replicasEach); i++) started.push(await ClusterNode.start(dir));
    const cluster = new TestCluster(dir, started.slice(0, masters), started.slice(masters));
    await cluster.#form();
    return cluster;
  }

  async #form(): Promise<void> {
    const [first, ...others] = this.nodes;
    for (const [i, node] of this.masters.entries()) {
      const [from, to] = [i, i + 1].map((n) => Math.floor((n * slots) / this.masters.length));
      await node.cluster('ADDSLOTSRANGE', from ?? 0, (to ?? 0) - 1);
      await node.cluster('SET-CONFIG-EPOCH', i + 1);
    }
    for (const node of others) await first?.cluster('MEET', '127.0.0.1', node.port, await busPortOf(node));
    await this.#settled(`cluster_known_nodes:${this.nodes.length}`);
    for (const [i, replica] of this.replicas.entries()) {
      const master = this.masters[i % this.masters.length];
      if (master) await replica.cluster('REPLICATE', await master.id());
    }
  }

  async writable(): Promise<void> {
    for (const replica of this.replicas)
      await until(async () => (await replica.admin.info('replication')).includes('master_link_status:up'));
    await this.#settled('cluster_state:ok');
  }

  /** Resolves when every node reports this text. */
  async #settled(text: string): Promise<void> {
    for (const node of this.nodes) await until(async () => String(await node.cluster('INFO')).includes(text));
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) node.admin.disconnect();
    await Promise.all(this.nodes.map((node) => node.kill()));
    await rm(this.#dir, { recursive: true, force: true });
  }
}

async function busPortOf(node: ClusterNode): Promise<string> {
  const [, port = ''] = /@(\d+)/.exec(String(await node.cluster('NODES'))) ?? [];
  return port;
}

/** Two free ports; the kernel does not assign them again soon. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()];
  const ports = [];
  for (const server of servers) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    ports.push(address !== null && typeof address === 'object' ? address.port : 0);
  }
  for (const server of servers) server.close();
  return [ports[0] ?? 0, ports[1] ?? 0];
}
