/**
 * What options of commands choose from: targets of attacks, benchmarks, languages of templates, formats of tools.
 *
 * @module
 */
import { ISOLATED_MODES, type IsolatedMode } from './modes.ts';

/** The cells of a mode, the decisions before a call (`trust`), or commands and services (`edges`). */
export type AttackTarget = IsolatedMode | 'trust' | 'edges';

export const ATTACK_TARGETS: readonly AttackTarget[] = [...ISOLATED_MODES, 'trust', 'edges'];

/** `container` runs only when named, because it fetches packages for its image. */
export const BENCHES = {
  subprocess: { onRequest: false },
  wasm: { onRequest: false },
  'python-wasm': { onRequest: false },
  gateway: { onRequest: false },
  container: { onRequest: true },
} as const;

export type BenchName = keyof typeof BENCHES;

/** The languages that `skillcell init` has a template for. */
export const TEMPLATE_LANGUAGES = ['rust', 'go', 'c', 'typescript', 'python'] as const;

export type TemplateLanguage = (typeof TEMPLATE_LANGUAGES)[number];

/** The formats of model providers that skills can be offered in as tools. */
export const TOOL_FORMAT_NAMES = [
  'openai',
  'claude',
  'gemini',
  'deepseek',
  'ollama',
  'bedrock',
  'mcp',
] as const;

export type ToolFormatName = (typeof TOOL_FORMAT_NAMES)[number];
