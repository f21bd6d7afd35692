/**
 * Large arguments that wait for their call: only those of tool calls are kept, and only up to a size.
 *
 * @module
 */
import { describe, expect, test } from 'vitest';
import type { Runtime } from '../../src/index.ts';
import { JsonText } from '../../src/json-text.ts';
import { LargeArguments } from '../../src/mcp/large-arguments.ts';

const MIB = 1024 * 1024;
const PATH = ['params', 'arguments'];

/** Reads messages of this method whose arguments are this large. */
function reading(method: string, bytes: number): Runtime {
  const text = new JsonText(Buffer.alloc(bytes, '{'));
  const message = (): unknown => ({ jsonrpc: '2.0', id: 1, method, params: { arguments: null } });
  return { readMessage: () => Promise.resolve({ message: message(), parts: [text] }) } as unknown as Runtime;
}

async function read(large: LargeArguments, runtime: Runtime): Promise<Record<string, unknown>> {
  const message = await large.read(runtime, new Uint8Array(), { path: PATH });
  return (message as { params: { arguments: Record<string, unknown> } }).params.arguments;
}

describe('large arguments', () => {
  test('of a tool call are found once', async () => {
    const large = new LargeArguments();
    const given = await read(large, reading('tools/call', MIB));
    expect(large.take(given)).toBeInstanceOf(JsonText);
    expect(large.waitingBytes).toBe(0);
    expect(large.take(given)).toBe(given);
  });

  test('of any other message are dropped, because nothing would take them', async () => {
    const large = new LargeArguments();
    for (let n = 0; n < 20; n++) expect(await read(large, reading('ping', 8 * MIB))).toEqual({});
    expect(large.waitingBytes).toBe(0);
  });

  test('are kept up to 64 MiB in total, the newest first', async () => {
    const large = new LargeArguments();
    const runtime = reading('tools/call', 8 * MIB);
    const given = [];
    for (let n = 0; n < 20; n++) given.push(await read(large, runtime));
    expect(large.waitingBytes).toBe(64 * MIB);
    expect(large.take(given[19] ?? {})).toBeInstanceOf(JsonText);
    expect(large.take(given[0] ?? {})).toBe(given[0]);
  });
});
