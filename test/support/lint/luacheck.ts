import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { libraryFolders } from '../../../src/external-programs/apt.ts';
import { findProgram, type Program, type ProgramKind } from '../../../src/external-programs/find.ts';

const luacheck: ProgramKind = {
  label: 'luacheck',
  wanted: 'luacheck',
  variable: 'LUACHECK',
  names: ['luacheck'],
  packages: ['lua-check', 'lua-argparse', 'lua-filesystem', 'lua5.1'],
  path: 'usr/bin/luacheck',
  // Finds the Lua interpreter on PATH and luacheck's modules in these folders.
  environment: async (root) => {
    const scripts = join(root, 'usr/share/lua/5.1');
    const libraries = (await libraryFolders(root)).map((folder) => join(folder, 'lua/5.1/?.so'));
    return {
      PATH: `${join(root, 'usr/bin')}:${process.env['PATH'] ?? ''}`,
      LUA_PATH: `${scripts}/?.lua;${scripts}/?/init.lua`,
      LUA_CPATH: libraries.join(';'),
    };
  },
  versionIn: (printed) => {
    const version = /^Luacheck: (\S+)/m.exec(printed)?.[1];
    if (!version) throw new Error('its --version is not that of luacheck');
    return version;
  },
  whatToDo: 'install luacheck (apt install lua-check, brew install luacheck), or set LUACHECK to its program',
};

const folder = fileURLToPath(new URL('../../../.luacheck', import.meta.url));

/** luacheck: from LUACHECK, PATH, or the distribution's packages, downloaded once into `.luacheck/`. */
export function findLuacheck(): Promise<Program> {
  return findProgram(luacheck, { log: (line) => console.log(line), env: process.env, folder });
}
