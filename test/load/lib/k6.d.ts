/** k6 provides it; its types rely on those of the DOM, which k6 lacks. */
declare const console: { error(message: string): void };
