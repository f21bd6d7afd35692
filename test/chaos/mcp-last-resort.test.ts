/**
 * Faults of the host in the middle of calls of the real MCP server: they end only the call that they belong to, and the client
 * continues on the same connection.
 */
import { once } from 'node:events';
import {
  StreamableHTTPClientTransport,
  type CallToolResult,
  type Client,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientOf, openProject, startHttp, type Project } from '../mcp/project.ts';
import { seamsIn, SOURCE, WAYS } from './seams.ts';

interface Served {
  client: Client;
  pid: () => number;
  /** The diagnostic output so far. */
  notes: () => string;
  close: () => Promise<void>;
}

let project: Project;

beforeAll(() => {
  const made = openProject();
  project = { ...made, env: { ...made.env, ...seamsIn(made.folder) } };
  for (const name of ['fine', ...WAYS.map((way) => `breaks-by-${way}`)])
    project.add(`test/${name}`, SOURCE, { limits: { timeout: '120s' } });
});

afterAll(() => project.close());

async function overStdio(): Promise<Served> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: project.args(),
    env: project.env,
    stderr: 'pipe',
  });
  let notes = '';
  transport.stderr?.on('data', (chunk: Buffer) => (notes += chunk.toString()));
  const client = clientOf('2025-11-25');
  await client.connect(transport);
  return { client, pid: () => transport.pid ?? 0, notes: () => notes, close: () => client.close() };
}

async function overHttp(): Promise<Served> {
  const { child, url, notes } = await startHttp(project, '--no-token');
  const client = clientOf('2025-11-25');
  await client.connect(new StreamableHTTPClientTransport(url));
  const close = async (): Promise<void> => {
    await client.close();
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  };
  return { client, pid: () => child.pid ?? 0, notes, close };
}

describe.each([
  ['standard input and output', overStdio],
  ['HTTP', overHttp],
])('an uncaught fault in a server over %s', (_, serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.close());

  const call = async (name: string, given: object = {}): Promise<CallToolResult> =>
    served.client.callTool({ name: `test__${name}`, arguments: { ...given } });
  const idOf = ({ _meta }: CallToolResult): string => String(_meta?.['skillcell/call_id']);

  async function expectFine(result: CallToolResult): Promise<void> {
    expect(JSON.stringify(result.content)).toContain('fine');
    expect((await project.receiptOf(idOf(result))).code).toBe('ok');
  }

  test.each(WAYS)('from a %s ends only its own call, with a receipt', async (way) => {
    const before = await project.countReceipts();
    const other = call('fine', { seconds: 2 });
    const broken = await call(`breaks-by-${way}`, { seconds: 100 });
    expect(broken.isError).toBe(true);
    expect(JSON.stringify(broken.content)).toContain('internal: ');
    expect(await project.receiptOf(idOf(broken))).toMatchObject({
      code: 'internal',
      message: expect.stringContaining(`seam: ${way}`) as string,
    });
    await expect
      .poll(served.notes)
      .toContain(`seam: ${way} (its call has failed; the service keeps running)`);
    await expectFine(await other);
    await expectFine(await call('fine'));
    // The failed call, the concurrent one and the next have one receipt each.
    expect(await project.countReceipts()).toBe(before + 3);
  });

  test('while reading from a cell ends the call that the cell serves', async () => {
    const broken = await call('fine', { returns: true });
    expect(JSON.stringify(broken.content)).toContain('internal: ');
    expect((await project.receiptOf(idOf(broken))).code).toBe('internal');
    await expect.poll(served.notes).toContain('(its cell was ended; the service keeps running)');
    await expectFine(await call('fine'));
  });

  test('that belongs to no call ends none', async () => {
    const running = call('fine', { seconds: 2 });
    process.kill(served.pid(), 'SIGUSR2');
    await expect
      .poll(served.notes)
      .toContain('seam: nobody (it belongs to no call; the service keeps running)');
    await expectFine(await running);
  });
});
