/**
 * `skillcell/mastra`: skills as tools of Mastra. Needs the package `@mastra/core`.
 *
 * @module
 */
export { mastraTools } from '../adapters/mastra.ts';
export type { MastraTools } from '../adapters/mastra.ts';
export type { AdapterOptions, SkillToolOutput } from '../adapters/skill-tools.ts';
