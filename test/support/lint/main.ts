import { allWords } from '../../../src/primitives.ts';
import { isScript, luaFiles } from '../../../src/redis/source.ts';
import { lint } from './lua.ts';

const findings = await lint([...luaFiles().keys()].filter(isScript), allWords);
for (const finding of findings) console.error(finding);
if (findings.length > 0) process.exitCode = 1;
