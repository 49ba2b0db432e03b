import { defineConfig } from 'orval';

export default defineConfig({
  muster: {
    input: './generated/openapi.json',
    output: {
      target: './generated/orval/api.ts',
      client: 'fetch',
      headers: true,
      override: { mutator: { path: './use/orval-request.ts', name: 'request' } },
    },
  },
});
