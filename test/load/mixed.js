import * as allowances from './allowance.js';
import * as barriers from './barrier.js';
import * as budgets from './budget.js';
import * as journal from './events.js';
import * as groups from './group.js';
import { duration, optionsFor, vus } from './lib/muster.js';
import { summaryOf } from './lib/summary.js';
import * as mailboxes from './mailbox.js';

const all = [mailboxes, budgets, groups, barriers, allowances, journal];

/** A scenario for each, side by side: the VUs are shared out among them. @param {string} exec */
const scenario = (exec) => ({
  executor: /** @type {const} */ ('constant-vus'),
  exec,
  vus: Math.max(1, Math.round(vus / all.length)),
  duration,
});

const operations = all.flatMap((one) => one.operations);
export const options = optionsFor(
  operations,
  Object.fromEntries(
    ['mailbox', 'budget', 'group', 'barrier', 'allowance', 'events'].map((name) => [name, scenario(name)]),
  ),
);

export function setup() {
  return {
    mailbox: mailboxes.setup(),
    budget: budgets.setup(),
    group: groups.setup(),
    barrier: barriers.setup(),
    allowance: allowances.setup(),
    events: journal.setup(),
  };
}

/** @typedef {ReturnType<typeof setup>} Data */
/** @param {Data} data */
export const mailbox = (data) => mailboxes.default(data.mailbox);
/** @param {Data} data */
export const budget = (data) => budgets.default(data.budget);
/** @param {Data} data */
export const group = (data) => groups.default(data.group);
/** @param {Data} data */
export const barrier = (data) => barriers.default(data.barrier);
/** @param {Data} data */
export const allowance = (data) => allowances.default(data.allowance);
/** @param {Data} data */
export const events = (data) => journal.default(data.events);

/** @param {Data} data */
export function teardown(data) {
  mailboxes.teardown(data.mailbox);
  budgets.teardown(data.budget);
  groups.teardown(data.group);
  barriers.teardown(data.barrier);
  allowances.teardown(data.allowance);
  journal.teardown(data.events);
}

export const handleSummary = summaryOf('mixed', operations);
