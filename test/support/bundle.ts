import { type BuildOptions, build } from 'esbuild';

/** A program in one text, with all that it imports: its process or thread needs no loader of modules. */
export async function bundled(contents: string, resolveDir: string, options: BuildOptions): Promise<string> {
  const stdin = { contents, resolveDir };
  const { outputFiles = [] } = await build({ stdin, bundle: true, platform: 'node', write: false, ...options });
  return outputFiles[0]?.text ?? '';
}
