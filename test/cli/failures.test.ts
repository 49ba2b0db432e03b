import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { failure } from '../support/cli.ts';
import { OwnStore } from '../support/own-store.ts';

const sh = (line: string) => promisify(execFile)('sh', ['-c', line]);

const somebody = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e';

describe('A failing command', () => {
  let store: OwnStore;
  let settings: Record<string, string>;
  before(async () => {
    store = await OwnStore.start();
    settings = { REDIS_URL: store.url };
    await failure(['org', 'create', 'acme', '--plan', 'gold'], settings);
  });
  after(() => store.stop());

  const lines: [line: string, code: string, message: RegExp][] = [
    ['', 'VALIDATION_FAILED', /incomplete command: --help/],
    ['org', 'VALIDATION_FAILED', /incomplete command: --help/],
    ['org frob', 'VALIDATION_FAILED', /unknown command 'frob'/],
    ['org create', 'VALIDATION_FAILED', /missing required argument 'org'/],
    ['org create Acme', 'VALIDATION_FAILED', /org: "Acme" must be 3 to 40 characters/],
    ['org create ac', 'VALIDATION_FAILED', /org: "ac" must be/],
    ['org create acme --plan gold', 'VALIDATION_FAILED', /gold.*free, builder, team, scale, enterprise, preview/],
    ['org create acme --agents 5', 'VALIDATION_FAILED', /agents: only the enterprise plan/],
    ['org create acme --plan enterprise --rpm many', 'VALIDATION_FAILED', /rpm: "many" must be a whole number/],
    ['org create acme --colour red', 'VALIDATION_FAILED', /unknown option '--colour'/],
    ['org create acme twice', 'VALIDATION_FAILED', /too many arguments/],
    ['org set-plan acme', 'VALIDATION_FAILED', /--plan <plan>.* not specified/],
    ['org set-plan nobody --plan team', 'ORG_NOT_FOUND', /org list/],
    ['org show nobody', 'ORG_NOT_FOUND', /org list/],
    ['space create', 'VALIDATION_FAILED', /--org <org>.* not specified/],
    ['space create --org nobody', 'ORG_NOT_FOUND', /org list/],
    ['space list --org nobody', 'ORG_NOT_FOUND', /org list/],
    [`space create --org nobody --name ${'x'.repeat(201)}`, 'VALIDATION_FAILED', /name: it must be 1 to 200/],
    ['key create --org nobody', 'VALIDATION_FAILED', /--permissions <list>.* not specified/],
    ['key create --org nobody --permissions read', 'VALIDATION_FAILED', /"read" is not one of coordination_read/],
    [
      'key create --org nobody --permissions coordination_read --spaces ',
      'VALIDATION_FAILED',
      /spaces: "" must be a uuid/,
    ],
    ['key create --org nobody --permissions coordination_read', 'ORG_NOT_FOUND', /org list/],
    ['key list --org nobody', 'ORG_NOT_FOUND', /org list/],
    ['key rotate --org nobody 7', 'VALIDATION_FAILED', /--overlap-hours <n>.* not specified/],
    [
      'key create --org nobody --permissions coordination_read --expires-in-days 0',
      'VALIDATION_FAILED',
      /expiresInDays: it must be a whole number from 1 to 3650/,
    ],
    ['key revoke --org nobody 7', 'VALIDATION_FAILED', /keyId: "7" must be a uuid/],
    [`key revoke --org nobody ${somebody}`, 'ORG_NOT_FOUND', /org list/],
    ['audit list --org nobody', 'ORG_NOT_FOUND', /org list/],
    ['audit list --org nobody --limit 1001', 'VALIDATION_FAILED', /limit: it must be a whole number from 1 to 1000/],
    ['audit list --org nobody --limit ten', 'VALIDATION_FAILED', /limit: it must be/],
    ['audit list --org nobody --cursor x', 'INVALID_CURSOR', /cursor: "x" is not the nextCursor/],
  ];

  for (const [line, code, message] of lines)
    it(`prints the API's error envelope: muster ${line.slice(0, 60)}`, async () => {
      const error = await failure(line === '' ? [] : line.split(' '), settings);
      expect(error.code).to.equal(code);
      expect(error.message).to.match(message);
      expect(error.message).not.to.include('\n');
    });

  it('changes nothing', async () => {
    const { store: redis } = await store.admin();
    expect(await redis.keys('*')).to.deep.equal([]);
  });

  it('reports STORE_UNAVAILABLE if no store is running, with how to start one, and repeats no password', async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{ DATA_DIR: '/tmp/muster-nowhere' }, /no store is running on .*\/tmp\/muster-nowhere.*npm start.*REDIS_URL/],
      [{ REDIS_URL: '/tmp/muster-nowhere.sock' }, /the store in REDIS_URL cannot be reached \(connect ENOENT/],
      [{ REDIS_URL: 'redis://:hunter2@127.0.0.1:1' }, /ECONNREFUSED.*start it/],
    ];
    for (const [setting, message] of cases) {
      const error = await failure(['org', 'list'], setting);
      expect(error.code).to.equal('STORE_UNAVAILABLE');
      expect(error.message).to.match(message).and.not.to.include('hunter2');
    }
  });

  it('leaves a store that another version wrote in another format unchanged', async () => {
    const { store: redis } = await store.admin();
    await redis.set('muster:format', '2');
    const error = await failure(['org', 'create', 'acme'], settings);
    expect(error.code).to.equal('STORE_UNAVAILABLE');
    expect(error.message).to.match(/^the store is written in format 2, .*format 3: run the version that wrote it/);
    expect(await redis.keys('*')).to.deep.equal(['muster:format']);
    await redis.del('muster:format');
  });

  it('names a bad setting', async () => {
    const error = await failure(['org', 'list'], { ...settings, SNAPSHOT_KEEP: 'all' });
    expect(error).to.include({ code: 'VALIDATION_FAILED' });
    expect(error.message).to.match(/^SNAPSHOT_KEEP: "all" cannot be used; it must be a whole number/);
  });

  it('reports a snapshot as newer than this Redis, not as damaged', async () => {
    const path = join(store.dataDir, 'newer.rdb');
    await writeFile(path, 'REDIS0099');
    const error = await failure(['snapshot', 'restore', path], { DATA_DIR: join(store.dataDir, 'restored') });
    expect(error.code).to.equal('SNAPSHOT_TOO_NEW');
    expect(error.message).to.match(
      /newer version of Redis or Valkey, and version \d+\..* cannot read it: set REDIS_SERVER/,
    );
  });

  it('prints one line of JSON and exits with 1', async () => {
    const muster = `REDIS_URL=${store.url} ${process.execPath} dist/cli/main.js`;
    const { stdout, stderr } = await sh(`${muster} org show nobody 2>&1; echo $?`);
    const [line = '', status] = stdout.trim().split('\n');
    expect([JSON.parse(line).error.code, status, stderr]).to.deep.equal(['ORG_NOT_FOUND', '1', '']);
  });

  it('reports output lost on a full disk; a reader that stops early is no failure', async () => {
    const muster = `${process.execPath} dist/cli/main.js snapshot list`;
    const { stderr } = await sh(`${muster} > /dev/full; [ $? = 1 ] || echo no >&2`);
    expect(JSON.parse(stderr).error).to.include({ code: 'INTERNAL' });
    expect(JSON.parse(stderr).error.message).to.contain('ENOSPC');
    expect(await sh(`{ ${muster}; echo $? >&2; } | true`)).to.deep.equal({ stdout: '', stderr: '0\n' });
  });
});
