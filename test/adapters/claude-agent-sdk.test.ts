/**
 * `skillcell/claude-agent-sdk`: a real MCP client calls the server that the real SDK made. The SDK's agent is a program of
 * 170 MB, which is not installed here.
 */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { claudeAgentServer } from '../../src/api/claude-agent-sdk.ts';
import { describeAdapter, FINAL } from './contract.ts';

describeAdapter('skillcell/claude-agent-sdk', {
  ask: async (runtime, options, { tool, args, signal }) => {
    const { type, name, instance } = await claudeAgentServer(runtime, options);
    if (type !== 'sdk' || name !== 'skillcell') throw new Error(`Unexpected server ${name} of type ${type}`);
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    await Promise.all([instance.connect(theirs as never), client.connect(ours)]);
    try {
      const { tools } = await client.listTools();
      const result = await client.callTool(
        { name: tool, arguments: args },
        { ...(signal ? { signal } : {}) },
      );
      const [part] = result.content as { type: string; text: string }[];
      return {
        tools: tools.map((one) => one.name),
        schema: tools.find((one) => one.name === tool)?.inputSchema,
        read: part?.text ?? '',
        isError: result.isError === true,
        callId: result['_meta']?.['skillcell/call_id'],
        text: FINAL,
      };
    } finally {
      await client.close();
    }
  },
});
