import { fileURLToPath } from 'node:url';
import { luaNames } from '../../../src/primitives/primitives.ts';
import { lint } from './lua.ts';
import { lintAllTests } from './tests.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const findings = [...(await lint(luaNames)), ...lintAllTests(root)];
for (const finding of findings) console.error(finding);
if (findings.length > 0) process.exitCode = 1;
