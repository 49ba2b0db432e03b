import { sendMany, wideQueue } from '../spec/mailbox/many.ts';
describe('memory', function () {
  this.timeout(300_000);
  for (const fields of [{}, { after: 1 }, { key: 'k' }] as any[])
    it(JSON.stringify(fields), async () => {
      const queue = await wideQueue();
      const { store } = queue.world.service;
      const first = await queue.sent();
      const more = fields.after ? { prerequisites: `CANCEL m${first}` } : fields;
      const sum = async () => {
        const out: Record<string, number> = {};
        for (const key of await store.keys(`muster:{${queue.world.org}}*`)) {
          if (/clock|events|idem/.test(key)) continue;
          const kind = /:message:/.test(key) ? 'message' : key.slice(`muster:{${queue.world.org}}`.length).replace(/[0-9a-f-]{36}/g, 'ID');
          out[kind] = (out[kind] ?? 0) + Number(await store.call('MEMORY', 'USAGE', key, 'SAMPLES', '0'));
        }
        return out;
      };
      const before = await sum();
      await sendMany(queue, 10_000, more);
      const after = await sum();
      let total = 0;
      for (const [kind, bytes] of Object.entries(after)) {
        const each = (bytes - (before[kind] ?? 0)) / 10_000;
        total += each;
        if (each > 0.05) console.log('       ', kind, each.toFixed(2));
      }
      console.log('        total', total.toFixed(2));
    });
});
