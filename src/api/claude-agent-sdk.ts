/**
 * `skillcell/claude-agent-sdk`: skills as a server of the Claude Agent SDK. Needs the package `@anthropic-ai/claude-agent-sdk`.
 *
 * @module
 */
export { claudeAgentServer } from '../adapters/claude-agent-sdk.ts';
export type { ClaudeAgentOptions } from '../adapters/claude-agent-sdk.ts';
export type { AdapterOptions, SkillToolOutput } from '../adapters/skill-tools.ts';
