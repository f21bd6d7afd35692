/**
 * `skillcell/openai-agents`: skills as tools of the OpenAI Agents SDK. Needs the package `@openai/agents`.
 *
 * @module
 */
export { openaiAgentsTools } from '../adapters/openai-agents.ts';
export type { AdapterOptions, SkillToolOutput } from '../adapters/skill-tools.ts';
