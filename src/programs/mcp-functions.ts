/**
 * Tools of MCP clients that the host holds, as functions of a program: `functions.github_create_issue(params)`. The servers
 * run with their own authority; what they declare and return is data.
 *
 * @module
 */
import { SkillError } from '../errors.ts';
import { printableLine } from '../manifest/printable.ts';
import type { HostFunction, HostFunctions } from '../tree/functions.ts';

/** The part of a client of `@modelcontextprotocol/client` that programs need. It is connected, and the host closes it. */
export interface McpClient {
  listTools(params?: undefined, options?: { signal?: AbortSignal }): Promise<{ tools: readonly McpTool[] }>;
  callTool(
    params: { name: string; arguments?: Record<string, unknown> },
    options?: { signal?: AbortSignal },
  ): Promise<unknown>;
}

/** A tool as an MCP server describes it. */
export interface McpTool {
  name: string;
  description?: string | undefined;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown> | undefined;
}

/** Clients by the name that their functions begin with. */
export type McpClients = Readonly<Record<string, McpClient>>;

const LIST_MS = 30_000;
const MAX_TOOLS = 1000;
const MAX_ERROR = 2000;
const CLIENT_NAME = /^[A-Za-z]\w{0,39}$/;

interface ToolResult {
  content?: unknown;
  structuredContent?: unknown;
  isError?: unknown;
}

/** All functions of a program. Two of one name are refused: the program could not say which it means. */
export async function withMcpFunctions(
  functions: HostFunctions,
  clients: McpClients,
  signal?: AbortSignal,
): Promise<HostFunctions> {
  const listed = await Promise.all(
    Object.entries(clients).map(([prefix, client]) => functionsOf(prefix, client, signal)),
  );
  const all = new Map<string, { made: HostFunctions[string]; from: string }>();
  for (const [name, made] of Object.entries(functions)) all.set(name, { made, from: `functions.${name}` });
  for (const { name, from, made } of listed.flat()) {
    const other = all.get(name);
    if (other) throw collision(name, [other.from, from]);
    all.set(name, { made, from });
  }
  return Object.fromEntries([...all].map(([name, { made }]) => [name, made]));
}

interface Listed {
  name: string;
  /** The client and its name of the tool. */
  from: string;
  made: HostFunction;
}

async function functionsOf(prefix: string, client: McpClient, signal?: AbortSignal): Promise<Listed[]> {
  if (!CLIENT_NAME.test(prefix)) throw badClientName(prefix);
  const deadline = AbortSignal.timeout(LIST_MS);
  const { tools } = await client
    .listTools(undefined, { signal: signal ? AbortSignal.any([signal, deadline]) : deadline })
    .catch((error: unknown) => {
      // The call that follows ends as cancelled.
      if (signal?.aborted) return { tools: [] };
      throw unreachable(prefix, error);
    });
  if (tools.length > MAX_TOOLS)
    throw unreachable(prefix, `it has ${tools.length} tools, more than ${MAX_TOOLS}`);
  return tools.map((tool) => ({
    name: `${prefix}_${tool.name.replaceAll(/\W/g, '_')}`.slice(0, 100),
    from: `the tool ${JSON.stringify(printableLine(tool.name))} of ${prefix}`,
    made: functionFor(client, tool),
  }));
}

function functionFor(client: McpClient, tool: McpTool): HostFunction {
  const { name, description = '', inputSchema, outputSchema } = tool;
  return {
    description,
    parameters: inputSchema,
    ...(outputSchema ? { outputs: outputSchema } : {}),
    execute: async (params, { signal }) => {
      const given = (params ?? {}) as Record<string, unknown>;
      return valueOf(name, (await client.callTool({ name, arguments: given }, { signal })) as ToolResult);
    },
  };
}

/** Structured content, or the text, or the parts as they are if there is more than text. */
function valueOf(name: string, { content, structuredContent, isError }: ToolResult): unknown {
  const parts = Array.isArray(content) ? (content as { type?: unknown; text?: unknown }[]) : [];
  const texts = parts.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  );
  if (isError === true) throw failed(name, texts.join('\n'));
  if (structuredContent !== undefined) return structuredContent;
  return texts.length === parts.length ? texts.join('\n') : parts;
}

function failed(name: string, text: string): SkillError {
  const reason = printableLine(text.slice(0, MAX_ERROR));
  return new SkillError('skill_error', `The tool "${printableLine(name)}" failed: ${reason}`, {
    fix: 'Call it with other parameters.',
  });
}

function collision(name: string, [one, other]: readonly [string, string]): SkillError {
  return new SkillError('usage', `Two functions have the name "${name}": ${one}, and ${other}`, {
    fix: 'Pass one of the clients under another name in mcp, or rename the function.',
  });
}

function badClientName(name: string): SkillError {
  return new SkillError('usage', `${JSON.stringify(name)} is not a valid name of an MCP client`, {
    fix: 'Use a letter, and then at most 39 letters, digits and "_".',
  });
}

function unreachable(prefix: string, error: unknown): SkillError {
  const reason = error instanceof Error ? error.message : String(error);
  return new SkillError(
    'skill_unavailable',
    `The tools of ${prefix} cannot be listed: ${printableLine(reason)}`,
    {
      fix: 'Connect the client before running the program, and check that its server works.',
      cause: error,
    },
  );
}
