// mocha's "spec" reporter, plus how to run each failed test alone, and a plain last line that people and CI can both read.
const { relative } = require('node:path');
const { reporters } = require('mocha');

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const endsWithinMs = 20_000;

module.exports = class extends reporters.Spec {
  epilogue() {
    super.epilogue();
    // A hook's title names the test that it ran for.
    const alone = this.failures.filter((test) => test.file && test.type === 'test');
    if (alone.length > 0) console.log('  Run it alone:\n');
    for (const test of alone) console.log(`    npx mocha ${relative('', test.file)} -f ${quoted(test.fullTitle())}`);
    if (alone.length > 0) console.log();
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
    setTimeout(endLeftOpen, endsWithinMs).unref();
  }
};

/** A run that has finished but does not exit has left a timer or socket open. That must not hold up whoever started it. */
function endLeftOpen() {
  console.error(`over, but does not end: left open: ${process.getActiveResourcesInfo().join(', ')}`);
  // Mocha sets the code as the process exits, so this has to come after it.
  process.once('exit', () => {
    process.exitCode = 1;
  });
  process.exit();
}
