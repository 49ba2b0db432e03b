import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'ioredis';
import type { ClusterNode, TestCluster } from '../support/cluster.ts';
import { until } from '../support/processes.ts';

export function slotOf(key: string): number {
  return new Command('exists', [key]).getSlot();
}

/** The node that serves a slot now, as the first living node knows. */
export async function ownerOf(cluster: TestCluster, slot: number): Promise<ClusterNode> {
  const living = cluster.nodes.filter((node) => node.isUp);
  const ranges = (await living[0]?.cluster('SLOTS')) as [number, number, [string, number]][];
  const range = ranges.find(([from, to]) => from <= slot && slot <= to);
  const owner = cluster.nodes.find((node) => node.port === range?.[2][1]);
  if (!owner) throw new Error(`nobody serves slot ${slot}`);
  return owner;
}

/** Names of organizations that a master holds. */
export async function namesOn(cluster: TestCluster, master: ClusterNode, count: number): Promise<string[]> {
  const orgs: string[] = [];
  for (let n = 0; orgs.length < count; n++)
    if ((await ownerOf(cluster, slotOf(`{org-${n}}`))) === master) orgs.push(`org-${n}`);
  return orgs;
}

/** Moves a slot as redis-cli does: key by key, here with time for calls in between. */
export async function moveSlot(cluster: TestCluster, slot: number, to: ClusterNode): Promise<void> {
  const from = await ownerOf(cluster, slot);
  if (from === to) return;
  const [fromId, toId] = [await from.id(), await to.id()];
  await to.cluster('SETSLOT', slot, 'IMPORTING', fromId);
  await from.cluster('SETSLOT', slot, 'MIGRATING', toId);
  for (;;) {
    const keys = (await from.cluster('GETKEYSINSLOT', slot, 30)) as string[];
    if (keys.length === 0) break;
    await from.admin.call('MIGRATE', '127.0.0.1', String(to.port), '', '0', '5000', 'KEYS', ...keys);
    await sleep(1);
  }
  await to.cluster('SETSLOT', slot, 'NODE', toId);
  await from.cluster('SETSLOT', slot, 'NODE', toId);
  await until(async () => (await ownerOf(cluster, slot)) === to);
}

export async function replicasOf(cluster: TestCluster, master: ClusterNode): Promise<ClusterNode[]> {
  const lines = (await master.cluster('REPLICAS', await master.id())) as string[];
  return cluster.nodes.filter(({ port }) => lines.some((line) => line.includes(`:${port}@`)));
}
