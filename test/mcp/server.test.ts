/**
 * The server as clients see it. One file, because preparing the bundled skills takes longer than all calls together.
 */
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { describeInProcess } from './in-process.ts';
import { describeHttp } from './over-http.ts';
import { describeStdio } from './over-stdio.ts';
import { openProject } from './project.ts';
import { describeUnread } from './unread-answers.ts';

const project = openProject();
afterAll(project.close);

// Each suite has its own servers, which end before the next suite starts.
describe('an MCP server started by a client', () => describeStdio(project));
describe('an MCP server whose client does not read', () => describeUnread(project));
describe('an MCP server that listens', () => describeHttp(project));
describe('an MCP server inside another program', () => describeInProcess(join(project.folder, 'home')));
