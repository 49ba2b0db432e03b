import type { Redis } from 'ioredis';
import { findRedisServer } from '../../../src/embedded/server-binary.ts';
import { createSnapshot } from '../../../src/jobs/snapshot/create.ts';
import { type Snapshot, snapshotFolder } from '../../../src/jobs/snapshot/folder.ts';
import type { Target } from '../../../src/jobs/snapshot/restore.ts';
import { createOrganization } from '../../../src/primitives/org/admin.ts';
import { OwnStore } from '../../support/own-store.ts';

/** A store of its own with an organization, of which snapshots are made. */
export class Source {
  readonly ownStore: OwnStore;
  readonly store: Redis;
  readonly folder: string;
  /** How they are restored, but for the folder. */
  readonly target: Omit<Target, 'dataDir'>;

  private constructor(ownStore: OwnStore, store: Redis, target: Omit<Target, 'dataDir'>) {
    this.ownStore = ownStore;
    this.store = store;
    this.folder = snapshotFolder(ownStore.dataDir);
    this.target = target;
  }

  static async start(): Promise<Source> {
    const ownStore = await OwnStore.start();
    const admin = await ownStore.admin();
    await createOrganization(admin, { org: 'acme', plan: 'free' });
    const program = await findRedisServer({ log: () => undefined });
    return new Source(ownStore, admin.store as Redis, { program, log: () => undefined });
  }

  make(keep = 9): Promise<Snapshot> {
    return createSnapshot(this.store, { folder: this.folder, keep, embedded: true });
  }
}
