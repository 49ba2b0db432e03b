import type { Access } from '../../support/processes.ts';
import type { Workload } from '../workload.ts';
import { GaugeScene } from './allowance.ts';
import { PassScene } from './api-key.ts';
import { AskScene } from './ask.ts';
import { BatchScene } from './batch.ts';
import { ClockworkScene } from './clockwork.ts';
import { GateScene } from './gate.ts';
import { GraphScene } from './graph.ts';
import { TeamScene } from './group.ts';
import { KeysScene } from './keys.ts';
import { LockScene } from './lock.ts';
import { MemoScene } from './memo.ts';
import { SheetScene } from './notes.ts';
import { LineScene } from './pool.ts';
import { PurseScene } from './purse.ts';
import { QueueScene } from './queue.ts';
import { QuotaScene } from './quota.ts';
import { ToolScene } from './requires.ts';
import { DealScene } from './reserve-and-send.ts';
import { RunScene } from './run.ts';
import type { Scene } from './scene.ts';

export type { Scene } from './scene.ts';

/** Makes a scene of a space. */
export type Maker = (load: Workload, access: Access) => Scene;

/** Every primitive; messages twice as often. */
export const scenes: readonly Maker[] = [
  (load, access) => new QueueScene(load, access, 16),
  (load, access) => new QueueScene(load, access, 16),
  (load, access) => new PurseScene(load, access, 24),
  (load, access) => new DealScene(load, access, 24),
  (load, access) => new GateScene(load, access, 24),
  (load, access) => new QuotaScene(load, access, 20),
  (load, access) => new GaugeScene(load, access, 20),
  (load, access) => new LockScene(load, access, 24),
  (load, access) => new LineScene(load, access, 30),
  (load, access) => new PassScene(load, access, 24),
  (load, access) => new TeamScene(load, access, 20),
  (load, access) => new RunScene(load, access, 20),
  (load, access) => new GraphScene(load, access, 24),
  (load, access) => new KeysScene(load, access, 24),
  (load, access) => new SheetScene(load, access, 24),
  (load, access) => new MemoScene(load, access, 20),
  (load, access) => new AskScene(load, access, 24),
  (load, access) => new ToolScene(load, access, 24),
  (load, access) => new BatchScene(load, access, 12),
  (load, access) => new ClockworkScene(load, access, 12),
];

/** Scenes that also run on 761d759, the last version without pools, questions, notes and the like. */
export const earlierScenes: readonly Maker[] = [
  (load, access) => new BatchScene(load, access, 12),
  (load, access) => new GateScene(load, access, 24),
  (load, access) => new RunScene(load, access, 20),
];
