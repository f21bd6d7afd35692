/**
 * `skillcell/tools`: converts skills to the tool formats of model providers, and describes them to models that write programs.
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
export { typingsFor } from '../tools/offer.ts';
export type { SkillRegistry, Typings } from '../tools/offer.ts';
export { ToolSet } from '../tools/tool-set.ts';
export type { SkippedSkill, ToolCall, ToolNote } from '../tools/tool-set.ts';
export type { TypingLanguage } from '../vocabulary/typing-languages.ts';
