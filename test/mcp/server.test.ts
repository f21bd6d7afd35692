/**
 * The server as clients meet it. One file, because preparing the bundled skills takes longer than all calls together.
 */
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { describeInProcess } from './in-process.ts';
import { describeHttp } from './over-http.ts';
import { describeStdio } from './over-stdio.ts';
import { openProject } from './project.ts';

const project = openProject();
afterAll(project.close);

// Each with servers of its own, which end before the next begin.
describe('a process that a client starts', () => describeStdio(project));
describe('a process that listens', () => describeHttp(project));
describe('inside another program', () => describeInProcess(join(project.folder, 'home')));
