/**
 * `skillcell/ai-sdk`: skills as tools of the Vercel AI SDK. Needs the package `ai`.
 *
 * @module
 */
export { aiSdkTools } from '../adapters/ai-sdk.ts';
export type { AiSdkTools } from '../adapters/ai-sdk.ts';
export type { AdapterOptions, SkillToolOutput } from '../adapters/skill-tools.ts';
