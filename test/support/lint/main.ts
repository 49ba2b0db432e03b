import { allWords } from '../../../src/primitives.ts';
import { lint } from './lua.ts';

const findings = await lint(allWords);
for (const finding of findings) console.error(finding);
if (findings.length > 0) process.exitCode = 1;
