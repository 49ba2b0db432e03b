#!/usr/bin/env -S node --enable-source-maps --max-semi-space-size=64
// The command `muster` of the installed package. `serve` and `test-server` load the server but not the CLI; other commands
// load only the CLI.
if (process.argv[2] === 'serve') {
  process.argv.splice(2, 1);
  await import('../main.ts');
} else if (process.argv[2] === 'test-server') await import('../tools/test-server.ts');
else await import('./main.ts');

export {};
