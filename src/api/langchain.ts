/**
 * `skillcell/langchain`: skills as tools of LangChain JS. Needs the package `@langchain/core`.
 *
 * @module
 */
export { langchainTools } from '../adapters/langchain.ts';
export type { LangChainTool } from '../adapters/langchain.ts';
export type { AdapterOptions, SkillToolOutput } from '../adapters/skill-tools.ts';
