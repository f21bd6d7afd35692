/**
 * A skill as a tool, in the words of each provider.
 *
 * @module
 */
import type { JsonSchema, Manifest } from '../manifest/manifest.ts';
import { toolName } from './names.ts';
import { convertForOpenAi, convertSchema, objectSchema } from './schema/convert.ts';
import type { Note } from './schema/plain.ts';
import type { Restore } from './schema/restore.ts';
import { listed } from './schema/types.ts';
import { BEDROCK_RULES, CLAUDE_RULES, GEMINI_RULES, OLLAMA_RULES, OPENAI_RULES } from './schema/rules.ts';

/** A function of chat completions; DeepSeek and Ollama have the same. */
export interface FunctionTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema; strict?: boolean };
}

export interface ClaudeTool {
  name: string;
  description: string;
  input_schema: JsonSchema;
}

/** Goes into `functionDeclarations` of a tool. */
export interface GeminiFunction {
  name: string;
  description: string;
  /** Absent when there are none. */
  parameters?: JsonSchema;
}

export interface BedrockTool {
  toolSpec: { name: string; description: string; inputSchema: { json: JsonSchema } };
}

export interface McpTool {
  name: string;
  description: string;
  inputSchema: JsonSchema & { type: 'object' };
  outputSchema?: JsonSchema & { type: 'object' };
}

/** What one tool looks like in each format. */
export interface ToolFormats {
  openai: FunctionTool;
  claude: ClaudeTool;
  gemini: GeminiFunction;
  deepseek: FunctionTool;
  ollama: FunctionTool;
  bedrock: BedrockTool;
  mcp: McpTool;
}

export type ToolFormat = keyof ToolFormats;

export interface MadeTool<Tool = ToolFormats[ToolFormat]> {
  tool: Tool;
  restore: Restore | undefined;
}

/** Undefined when the skill takes no object, and so cannot be a tool. */
type MakeTool<Tool> = (manifest: Manifest, note: Note) => MadeTool<Tool> | undefined;

/** OpenAI refuses longer ones, and a description goes into the context of every conversation. */
const MAX_OPENAI_DESCRIPTION = 1024;
const MAX_DESCRIPTION = 4096;

export const FORMATS: { readonly [Format in ToolFormat]: MakeTool<ToolFormats[Format]> } = {
  openai: (manifest, note) => {
    const made = convertForOpenAi(manifest.parameters, note);
    return made && functionTool(manifest, made, { strict: made.strict });
  },
  claude: (manifest, note) => {
    const made = convertSchema(manifest.parameters, { rules: CLAUDE_RULES, note });
    return made && { tool: { ...header(manifest), input_schema: made.schema }, restore: made.restore };
  },
  gemini: (manifest, note) => {
    const made = convertSchema(manifest.parameters, { rules: GEMINI_RULES, note });
    if (!made) return undefined;
    // It takes no object without properties.
    const isEmpty = Object.keys((made.schema['properties'] as JsonSchema | undefined) ?? {}).length === 0;
    const parameters = isEmpty ? {} : { parameters: made.schema };
    return { tool: { ...header(manifest), ...parameters }, restore: made.restore };
  },
  deepseek: (manifest, note) => {
    const made = convertSchema(manifest.parameters, { rules: OPENAI_RULES, note });
    return made && functionTool(manifest, made);
  },
  ollama: (manifest, note) => {
    const made = convertSchema(manifest.parameters, { rules: OLLAMA_RULES, note });
    return made && functionTool(manifest, made);
  },
  bedrock: (manifest, note) => {
    const made = convertSchema(manifest.parameters, { rules: BEDROCK_RULES, note });
    if (!made) return undefined;
    const { description: _told, ...json } = made.schema;
    return { tool: { toolSpec: { ...header(manifest), inputSchema: { json } } }, restore: made.restore };
  },
  mcp: ({ parameters, outputs, ...manifest }) => {
    const { type = 'object' } = parameters;
    if (!listed(type).includes('object')) return undefined;
    const hasOutputs = Object.keys(outputs).length > 0;
    return {
      tool: {
        ...header(manifest),
        inputSchema: objectSchema(parameters),
        ...(hasOutputs ? { outputSchema: objectSchema({ properties: outputs }) } : {}),
      },
      restore: undefined,
    };
  },
};

export const TOOL_FORMATS: readonly ToolFormat[] = Object.keys(FORMATS) as ToolFormat[];

function functionTool(
  manifest: Manifest,
  { schema, restore }: { schema: JsonSchema; restore: Restore | undefined },
  more: { strict?: boolean } = {},
): MadeTool<FunctionTool> {
  const tool = { ...header(manifest, MAX_OPENAI_DESCRIPTION), parameters: schema, ...more };
  return { tool: { type: 'function', function: tool }, restore };
}

/** A description is never empty: a model without one could only guess, and Bedrock refuses it. */
function header(
  { name, description }: Pick<Manifest, 'name' | 'description'>,
  most = MAX_DESCRIPTION,
): { name: string; description: string } {
  const text = description.trim() || name;
  return { name: toolName(name), description: text.length > most ? `${text.slice(0, most - 1)}…` : text };
}
