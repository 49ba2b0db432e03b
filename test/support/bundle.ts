import { type BuildOptions, build } from 'esbuild';

/** A program as one text with everything it imports, so that its process or thread needs no module loader. */
export async function bundled(contents: string, resolveDir: string, options: BuildOptions): Promise<string> {
  const stdin = { contents, resolveDir };
  const { outputFiles = [] } = await build({ stdin, bundle: true, platform: 'node', write: false, ...options });
  return outputFiles[0]?.text ?? '';
}
