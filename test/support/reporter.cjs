// mocha's "spec" reporter, plus how to run each failed test alone, and a plain last line that people and CI can both read.
const { relative } = require('node:path');
const { reporters } = require('mocha');

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

module.exports = class extends reporters.Spec {
  epilogue() {
    super.epilogue();
    // A hook's title names the test that it ran for.
    const alone = this.failures.filter((test) => test.file && test.type === 'test');
    if (alone.length > 0) console.log('  Run it alone:\n');
    for (const test of alone) console.log(`    npx mocha ${relative('', test.file)} -f ${quoted(test.fullTitle())}`);
    if (alone.length > 0) console.log();
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
  }
};
