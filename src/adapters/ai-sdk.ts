/**
 * Skills as tools of the Vercel AI SDK.
 *
 * @module
 */
import { jsonSchema, tool, type Tool } from 'ai';
import type { Runtime } from '../runtime.ts';
import { toolsByName, type AdapterOptions, type SkillToolOutput } from './skill-tools.ts';

/** Tools for `generateText` and `streamText`, by name. */
export type AiSdkTools = Record<string, Tool<unknown, SkillToolOutput>>;

/**
 * Offers skills as tools of the AI SDK. Each tool result in the steps has the `call_id` of its receipt.
 *
 * @example
 * ```ts
 * import { generateText, isStepCount, type LanguageModel } from 'ai';
 * import { createRuntime } from 'skillcell';
 * import { aiSdkTools } from 'skillcell/ai-sdk';
 *
 * export async function ask(model: LanguageModel, prompt: string): Promise<string> {
 *   await using runtime = createRuntime();
 *   const tools = await aiSdkTools(runtime, { skills: 'text/*' });
 *   return (await generateText({ model, tools, prompt, stopWhen: isStepCount(5) })).text;
 * }
 * ```
 */
export async function aiSdkTools(runtime: Runtime, options: AdapterOptions = {}): Promise<AiSdkTools> {
  return toolsByName(runtime, options, ({ description, parameters, call }) =>
    tool({
      description,
      inputSchema: jsonSchema(parameters),
      execute: (input: unknown, { abortSignal }) => call(input, abortSignal),
      toModelOutput: ({ output }: { output: SkillToolOutput }) => ({
        type: output.ok ? 'text' : 'error-text',
        value: output.text,
      }),
    }),
  );
}
