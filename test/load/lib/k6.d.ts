/** k6 has it; its types leave it to the DOM's, which k6 is not. */
declare const console: { error(message: string): void };
