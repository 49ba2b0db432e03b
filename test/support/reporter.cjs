// mocha's "spec" reporter, plus a plain last line that people and CI can both read.
const { reporters } = require('mocha');

module.exports = class extends reporters.Spec {
  epilogue() {
    super.epilogue();
    console.log(`${this.stats.passes} passed, ${this.stats.failures} failed`);
  }
};
