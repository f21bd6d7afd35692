/**
 * The two tools that replace all others if there are too many skills to list: search for a skill, call a skill.
 *
 * @module
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { callableOf, typingsOf } from '../inside.ts';
import { TYPING_LANGUAGE_NAMES } from '../vocabulary/typing-languages.ts';
import { combinedHints } from './annotations.ts';
import type { Entries } from './catalog.ts';
import { rank } from './rank.ts';
import { toolError } from './result.ts';

/** Names that no skill can have, because tool names of skills contain a double underscore. */
export const SEARCH_TOOL = 'skillcell_search';
export const CALL_TOOL = 'skillcell_call';

const MAX_MATCHES = 20;

const searchInput = z.strictObject({
  query: z.string().min(1).max(500).describe('A few words about the task.'),
  limit: z.int().min(1).max(MAX_MATCHES).default(5).describe('Maximum number of skills to return.'),
  typings: z
    .enum(TYPING_LANGUAGE_NAMES)
    .optional()
    .describe('Also declares the skills as functions of a program in this language.'),
});
const searchOutput = z.object({
  total: z.int().describe('Number of skills that match.'),
  matches: z.array(
    z.object({
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      inputSchema: z.record(z.string(), z.unknown()),
      annotations: z.record(z.string(), z.boolean()),
    }),
  ),
  typings: z.string().optional().describe('Declarations for a program, if they were requested.'),
});
const callInput = z.strictObject({
  name: z.string().max(128).describe(`Name of a skill, as ${SEARCH_TOOL} returned it.`),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Arguments for the skill.'),
});

/** The tools that are listed instead of the skills. */
export function searchTools(entries: Entries): Tool[] {
  const hints = combinedHints([...entries.values()].map(({ tool }) => tool.annotations));
  return [
    {
      name: SEARCH_TOOL,
      title: 'Find a skill',
      description:
        `Finds skills for a task, best match first, with the schema of their arguments. This server has ` +
        `${entries.size} skills, too many to list. Call one with ${CALL_TOOL}.`,
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
      description: `Calls one of the ${entries.size} skills of this server by name. Find the name with ${SEARCH_TOOL}.`,
      inputSchema: schemaOf(callInput),
      annotations: hints,
    },
  ];
}

export function search(entries: Entries, given: unknown): CallToolResult {
  const input = searchInput.safeParse(given);
  if (!input.success) return invalidArguments(SEARCH_TOOL, input.error);
  const { query, limit, typings } = input.data;
  const found = rank(
    [...entries.values()].map(({ tool }) => tool),
    query,
  );
  const matches = found.slice(0, limit).map(({ name, title, description, inputSchema, annotations }) => {
    return { name, title, description, inputSchema, annotations };
  });
  const skills = matches.flatMap(({ name }) => entries.get(name)?.skill ?? []);
  const declared = typings ? { typings: typingsOf(typings, skills.map(callableOf)) } : {};
  const structuredContent = { total: found.length, matches, ...declared };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}

export interface InnerCall {
  name: string;
  arguments: Record<string, unknown>;
}

/** The call inside a `skillcell_call`, or an error if its arguments are invalid. */
export function parseInnerCall(given: unknown): InnerCall | CallToolResult {
  const input = callInput.safeParse(given);
  return input.success ? input.data : invalidArguments(CALL_TOOL, input.error);
}

function invalidArguments(tool: string, error: z.ZodError): CallToolResult {
  return toolError(`invalid_params: The arguments of ${tool} are invalid.\n${z.prettifyError(error)}`);
}

function schemaOf(type: z.ZodType): Tool['inputSchema'] {
  return z.toJSONSchema(type, { io: 'input' }) as Tool['inputSchema'];
}
