/**
 * Skills as an in-process MCP server of the Claude Agent SDK.
 *
 * @module
 */
import { createSdkMcpServer, type McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { packageVersion } from '../package-root.ts';
import type { Runtime } from '../runtime.ts';
import { skillTools, type AdapterOptions, type SkillToolOutput } from './skill-tools.ts';

/** Options of `claudeAgentServer`. */
export interface ClaudeAgentOptions extends AdapterOptions {
  /** The name of the server, which is part of the tool names: `mcp__NAME__text__word_stats`. Default: `skillcell`. */
  name?: string | undefined;
}

const LIST = z.looseObject({ method: z.literal('tools/list') });
const CALL = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string(), arguments: z.unknown() }),
});

/** What the server says to a tool call. */
interface ToolAnswer {
  [key: string]: unknown;
  isError: boolean;
  content: { type: 'text'; text: string }[];
  _meta?: Record<string, unknown>;
}

/**
 * Offers skills as a server for `mcpServers` of `query()`. A tool result has the `call_id` of its receipt in `_meta`, as
 * `skillcell/call_id`.
 *
 * @example
 * ```ts
 * import { query } from '@anthropic-ai/claude-agent-sdk';
 * import { createRuntime } from 'skillcell';
 * import { claudeAgentServer } from 'skillcell/claude-agent-sdk';
 *
 * await using runtime = createRuntime();
 * const skillcell = await claudeAgentServer(runtime, { skills: 'text/*' });
 * const options = { mcpServers: { skillcell }, allowedTools: ['mcp__skillcell__text__word_stats'] };
 * for await (const message of query({ prompt: 'How long is "To be"?', options })) console.log(message.type);
 * ```
 */
export async function claudeAgentServer(
  runtime: Runtime,
  { name = 'skillcell', ...options }: ClaudeAgentOptions = {},
): Promise<McpSdkServerConfigWithInstance> {
  const offered = await skillTools(runtime, options);
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  const config = createSdkMcpServer({ name, version: packageVersion(), tools: [] });
  const { server } = config.instance;
  // `tool()` of the SDK takes Zod alone; these handlers pass the JSON Schema of the skill on as it is.
  server.setRequestHandler(LIST, () => ({
    tools: offered.map((tool) => ({
      name: tool.name,
      description: tool.description,
      inputSchema: tool.parameters,
    })),
  }));
  server.setRequestHandler(CALL, async ({ params }, { signal }) => {
    const tool = byName.get(params.name);
    return toolAnswer(tool ? await tool.call(params.arguments, signal) : unknownTool(params.name));
  });
  return config;
}

function toolAnswer({ ok, text, call_id }: SkillToolOutput): ToolAnswer {
  const meta = call_id === undefined ? {} : { _meta: { 'skillcell/call_id': call_id } };
  return { isError: !ok, content: [{ type: 'text', text }], ...meta };
}

function unknownTool(name: string): SkillToolOutput {
  return { ok: false, text: `skill_unavailable: There is no tool ${JSON.stringify(name.slice(0, 128))}` };
}
