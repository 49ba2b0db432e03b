// Preloaded before the conformance suite on Node 20: one of its commands, which is not used here, imports globSync from fs,
// which has it since Node 22.
import { register } from 'node:module';

const module = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
const fs = module("export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => [];");
register(
  module(
    `export const resolve = (name, context, next) =>
      name === 'fs' ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);`,
  ),
);
