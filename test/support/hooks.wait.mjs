import { createRequire } from 'node:module';

// Loads hooks.ts with require, as mocha loads it and the tests: `import` would load another instance.
const { preparing } = createRequire(import.meta.url)('./hooks.ts');
await preparing;
