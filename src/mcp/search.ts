/**
 * The two tools that stand for all skills where there are too many to list: find one, call it.
 *
 * @module
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { combinedHints } from './annotations.ts';
import type { Entries } from './catalog.ts';
import { rank } from './rank.ts';
import { toolError } from './result.ts';

/** Names that no skill can have: theirs hold two underscores in a row. */
export const SEARCH_TOOL = 'skillcell_search';
export const CALL_TOOL = 'skillcell_call';

const MAX_MATCHES = 20;

const searchInput = z.strictObject({
  query: z.string().min(1).max(500).describe('A few words about the task.'),
  limit: z.int().min(1).max(MAX_MATCHES).default(5).describe('How many skills to return.'),
});
const searchOutput = z.object({
  total: z.int().describe('How many skills fit.'),
  matches: z.array(
    z.object({
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      inputSchema: z.record(z.string(), z.unknown()),
      annotations: z.record(z.string(), z.boolean()),
    }),
  ),
});
const callInput = z.strictObject({
  name: z.string().max(128).describe(`Name of a skill, as ${SEARCH_TOOL} returned it.`),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('What the skill is called with.'),
});

/** What is listed instead of the skills. */
export function standIns(entries: Entries): Tool[] {
  const hints = combinedHints([...entries.values()].map(({ tool }) => tool.annotations));
  return [
    {
      name: SEARCH_TOOL,
      title: 'Find a skill',
      description:
        `This server has ${entries.size} skills, too many to list. Finds those that fit a task, best first, with the ` +
        `schema of their arguments. Call one with ${CALL_TOOL}.`,
      inputSchema: schemaOf(searchInput),
      outputSchema: schemaOf(searchOutput),
      annotations: {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    {
      name: CALL_TOOL,
      title: 'Call a skill',
      description: `Calls one of the ${entries.size} skills of this server by its name. Find the name with ${SEARCH_TOOL}.`,
      inputSchema: schemaOf(callInput),
      annotations: hints,
    },
  ];
}

export function search(entries: Entries, given: unknown): CallToolResult {
  const input = searchInput.safeParse(given);
  if (!input.success) return wrongArguments(SEARCH_TOOL, input.error);
  const found = rank(
    [...entries.values()].map(({ tool }) => tool),
    input.data.query,
  );
  const matches = found
    .slice(0, input.data.limit)
    .map(({ name, title, description, inputSchema, annotations }) => {
      return { name, title, description, inputSchema, annotations };
    });
  const structuredContent = { total: found.length, matches };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

export interface WantedCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** What a call of the stand-in is meant for, or why it is wrong. */
export function wantedCall(given: unknown): WantedCall | CallToolResult {
  const input = callInput.safeParse(given);
  return input.success ? input.data : wrongArguments(CALL_TOOL, input.error);
}

function wrongArguments(tool: string, error: z.ZodError): CallToolResult {
  return toolError(`invalid_params: The arguments of ${tool} are wrong.\n${z.prettifyError(error)}`);
}

function schemaOf(type: z.ZodType): Tool['inputSchema'] {
  return z.toJSONSchema(type, { io: 'input' }) as Tool['inputSchema'];
}
