/**
 * `skillcell/codemode`: runs the programs of code modes of other frameworks in cells: `@cloudflare/codemode`,
 * `@ai-sdk/code-mode`, Mastra.
 *
 * @module
 */
export { aiSdkCodeMode } from '../adapters/codemode/ai-sdk.ts';
export { cloudflareExecutor } from '../adapters/codemode/cloudflare.ts';
export type { CodeModeExecutor, CodeModeProvider, CodeModeResult } from '../adapters/codemode/cloudflare.ts';
export { mastraTransport } from '../adapters/codemode/mastra.ts';
export type {
  MastraCodeModeResult,
  MastraCodeModeRun,
  MastraCodeModeTransport,
} from '../adapters/codemode/mastra.ts';
export type { CodeModeOptions } from '../adapters/codemode/tool-program.ts';
