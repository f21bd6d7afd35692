/**
 * Converts a skill to a tool in the format of each provider.
 *
 * @module
 */
import type { JsonSchema, Manifest } from '../manifest/manifest.ts';
import { TOOL_FORMAT_NAMES, type ToolFormatName } from '../vocabulary/command-choices.ts';
import { toolName } from './names.ts';
import { convertForOpenAi, convertSchema, objectSchema } from './schema/convert.ts';
import type { Note } from './schema/plain.ts';
import type { Restore } from './schema/restore.ts';
import { typeList } from './schema/types.ts';
import { BEDROCK_RULES, CLAUDE_RULES, GEMINI_RULES, OLLAMA_RULES, OPENAI_RULES } from './schema/rules.ts';

/** A function for chat completions, as used by OpenAI, DeepSeek and Ollama. */
export interface FunctionTool {
  type: 'function';
  function: { name: string; description: string; parameters: JsonSchema; strict?: boolean };
}

/** A tool as the Claude API expects it. */
export interface ClaudeTool {
  name: string;
  description: string;
  input_schema: JsonSchema;
}

/** An entry of `functionDeclarations` in a Gemini tool. */
export interface GeminiFunction {
  name: string;
  description: string;
  /** Absent if the skill has none. */
  parameters?: JsonSchema;
}

/** A tool as Amazon Bedrock expects it. */
export interface BedrockTool {
  toolSpec: { name: string; description: string; inputSchema: { json: JsonSchema } };
}

/** A tool as MCP clients expect it. */
export interface McpTool {
  name: string;
  description: string;
  inputSchema: JsonSchema & { type: 'object' };
  outputSchema?: JsonSchema & { type: 'object' };
}

/** The name of a tool format. */
export type ToolFormat = ToolFormatName;

/** The type of a tool in each format. */
export interface ToolFormats {
  openai: FunctionTool;
  claude: ClaudeTool;
  gemini: GeminiFunction;
  deepseek: FunctionTool;
  ollama: FunctionTool;
  bedrock: BedrockTool;
  mcp: McpTool;
}

export interface ConvertedTool<Tool = ToolFormats[ToolFormat]> {
  tool: Tool;
  restore: Restore | undefined;
}

/** Undefined if the parameters are not an object, so that the skill cannot be a tool. */
type ConvertTool<Tool> = (manifest: Manifest, note: Note) => ConvertedTool<Tool> | undefined;

/** OpenAI rejects longer descriptions, and each one takes up context in every conversation. */
const MAX_OPENAI_DESCRIPTION = 1024;
const MAX_DESCRIPTION = 4096;

export const FORMATS: { readonly [Format in ToolFormat]: ConvertTool<ToolFormats[Format]> } = {
  openai: (manifest, note) => {
    const converted = convertForOpenAi(manifest.parameters, note);
    return converted && functionTool(manifest, converted, { strict: converted.strict });
  },
  claude: (manifest, note) => {
    const converted = convertSchema(manifest.parameters, { rules: CLAUDE_RULES, note });
    return (
      converted && {
        tool: { ...header(manifest), input_schema: converted.schema },
        restore: converted.restore,
      }
    );
  },
  gemini: (manifest, note) => {
    const converted = convertSchema(manifest.parameters, { rules: GEMINI_RULES, note });
    if (!converted) return undefined;
    // Gemini rejects an object without properties.
    const isEmpty =
      Object.keys((converted.schema['properties'] as JsonSchema | undefined) ?? {}).length === 0;
    const parameters = isEmpty ? {} : { parameters: converted.schema };
    return { tool: { ...header(manifest), ...parameters }, restore: converted.restore };
  },
  deepseek: (manifest, note) => {
    const converted = convertSchema(manifest.parameters, { rules: OPENAI_RULES, note });
    return converted && functionTool(manifest, converted);
  },
  ollama: (manifest, note) => {
    const converted = convertSchema(manifest.parameters, { rules: OLLAMA_RULES, note });
    return converted && functionTool(manifest, converted);
  },
  bedrock: (manifest, note) => {
    const converted = convertSchema(manifest.parameters, { rules: BEDROCK_RULES, note });
    if (!converted) return undefined;
    const { description: _omitted, ...json } = converted.schema;
    return { tool: { toolSpec: { ...header(manifest), inputSchema: { json } } }, restore: converted.restore };
  },
  mcp: ({ parameters, outputs, ...manifest }) => {
    const { type = 'object' } = parameters;
    if (!typeList(type).includes('object')) return undefined;
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

/** Names of all tool formats. */
export const TOOL_FORMATS: readonly ToolFormat[] = TOOL_FORMAT_NAMES;

function functionTool(
  manifest: Manifest,
  { schema, restore }: { schema: JsonSchema; restore: Restore | undefined },
  more: { strict?: boolean } = {},
): ConvertedTool<FunctionTool> {
  const tool = { ...header(manifest, MAX_OPENAI_DESCRIPTION), parameters: schema, ...more };
  return { tool: { type: 'function', function: tool }, restore };
}

/** The description is never empty: a model could only guess, and Bedrock rejects it. */
function header(
  { name, description }: Pick<Manifest, 'name' | 'description'>,
  maxLength = MAX_DESCRIPTION,
): { name: string; description: string } {
  const text = description.trim() || name;
  return {
    name: toolName(name),
    description: text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text,
  };
}
