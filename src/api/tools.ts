/**
 * `skillcell/tools`: converts skills to the tool formats of model providers, for programs that build the list themselves.
 *
 * @module
 */
export { TOOL_FORMATS } from '../tools/formats.ts';
export type {
  BedrockTool,
  ClaudeTool,
  FunctionTool,
  GeminiFunction,
  McpTool,
  ToolFormat,
  ToolFormats,
} from '../tools/formats.ts';
export { skillName, toolName } from '../tools/names.ts';
export { ToolSet } from '../tools/tool-set.ts';
export type { SkippedSkill, ToolCall, ToolNote } from '../tools/tool-set.ts';
