import { createRequire } from 'node:module';

// As mocha loads it, and the tests: what `import` loads would be another instance.
const { preparing } = createRequire(import.meta.url)('./hooks.ts');
await preparing;
