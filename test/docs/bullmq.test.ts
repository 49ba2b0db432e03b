import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Document } from '../readme/document.ts';
import { OwnStore } from '../support/own-store.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('docs/bullmq.md', () => {
  let store: OwnStore;
  before(async () => {
    store = await OwnStore.start();
  });
  after(() => store.stop());

  it("shows what BullMQ's program prints", async () => {
    const [example] = new Document(join(root, 'docs/bullmq.md')).examples;
    expect(example?.block.language).to.equal('ts');
    // In the project, so that it can import BullMQ by name.
    const file = join(root, 'dist', `bullmq-${process.pid}.mjs`);
    await writeFile(file, example?.block.text ?? '');
    try {
      const env = { ...process.env, REDIS_URL: store.url };
      const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
      expect(stdout.trim()).to.equal(example?.shown?.text.trim());
    } finally {
      await rm(file);
    }
  });
});
