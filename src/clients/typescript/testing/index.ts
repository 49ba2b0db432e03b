export { TestClock } from './clock.ts';
export { TestHold, type TestHoldOptions } from './hold.ts';
export { testMessage } from './message.ts';
export type { TestAnswers, TestCall, TestFields } from './recorder.ts';
export { type TestServer, type TestSpace, testServer } from './server.ts';
export { type TestEnd, TestTask, type TestTaskOptions, type TestWake } from './task.ts';
