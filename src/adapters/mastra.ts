/**
 * Skills as tools of Mastra.
 *
 * @module
 */
import type { StandardSchemaWithJSON } from '@mastra/core/schema';
import { createTool, type Tool } from '@mastra/core/tools';
import type { JsonSchema } from '../manifest/manifest.ts';
import type { Runtime } from '../runtime.ts';
import { toolsByName, type AdapterOptions, type SkillToolOutput } from './skill-tools.ts';

/** Tools for `new Agent({ tools })`, by name. */
export type MastraTools = Record<string, Tool>;

/**
 * Offers skills as tools of Mastra. Each tool result has the `call_id` of its receipt.
 *
 * @example
 * ```ts
 * import { Agent, type AgentConfig } from '@mastra/core/agent';
 * import { createRuntime } from 'skillcell';
 * import { mastraTools } from 'skillcell/mastra';
 *
 * export async function ask(model: AgentConfig['model'], prompt: string): Promise<string> {
 *   await using runtime = createRuntime();
 *   const tools = await mastraTools(runtime, { skills: 'text/*' });
 *   const agent = new Agent({ id: 'writer', name: 'Writer', instructions: 'Be brief.', model, tools });
 *   return (await agent.generate(prompt)).text;
 * }
 * ```
 */
export async function mastraTools(runtime: Runtime, options: AdapterOptions = {}): Promise<MastraTools> {
  return toolsByName(runtime, options, ({ name, description, parameters, call }) =>
    createTool({
      id: name,
      description,
      inputSchema: unchecked(parameters),
      execute: (input: unknown, { abortSignal }) => call(input, abortSignal),
      toModelOutput,
    }),
  );
}

/**
 * Mastra answers arguments that do not fit the schema by itself. The runtime checks them too, and writes a receipt, so the
 * schema describes them and refuses nothing.
 */
function unchecked(schema: JsonSchema): StandardSchemaWithJSON {
  const given = (): JsonSchema => schema;
  return {
    '~standard': {
      version: 1,
      vendor: 'skillcell',
      validate: (value) => ({ value }),
      jsonSchema: { input: given, output: given },
    },
  };
}

/** Only ever called with what `execute` gave. */
function toModelOutput(output: unknown): { type: string; value: string } {
  const { ok, text } = output as SkillToolOutput;
  return { type: ok ? 'text' : 'error-text', value: text };
}
