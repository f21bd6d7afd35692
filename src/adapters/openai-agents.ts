/**
 * Skills as tools of the OpenAI Agents SDK.
 *
 * @module
 */
import { tool, type Tool } from '@openai/agents';
import type { JsonSchema } from '../manifest/manifest.ts';
import type { Runtime } from '../runtime.ts';
import { offerSkills, type AdapterOptions } from './skill-tools.ts';

interface SdkSchema {
  strict: false;
  parameters: {
    type: 'object';
    properties: Record<string, never>;
    required: string[];
    additionalProperties: true;
  };
}

/**
 * Offers skills as tools of the OpenAI Agents SDK. Their schemas follow OpenAI's rules, and are strict where the skill's own
 * allows it. The custom data of a tool
 * output has the `call_id` of its receipt.
 *
 * @example
 * ```ts
 * import { Agent, run } from '@openai/agents';
 * import { createRuntime } from 'skillcell';
 * import { openaiAgentsTools } from 'skillcell/openai-agents';
 *
 * export async function ask(prompt: string): Promise<string | undefined> {
 *   await using runtime = createRuntime();
 *   const tools = await openaiAgentsTools(runtime, { skills: 'text/*' });
 *   return (await run(new Agent({ name: 'Writer', tools }), prompt)).finalOutput;
 * }
 * ```
 */
export async function openaiAgentsTools(runtime: Runtime, options: AdapterOptions = {}): Promise<Tool[]> {
  const { tools, call } = await offerSkills(runtime, 'openai', options);
  return tools.map(({ function: { name, description, parameters, strict = false } }) => {
    // Of calls whose output item is about to be made.
    const receipts = new Map<string, string>();
    return tool({
      name,
      description,
      ...schemaOf(parameters, strict),
      // Without this, the SDK would turn an exception into an answer.
      ...(options.onFailure === 'throw' ? { errorFunction: null } : {}),
      execute: async (input: unknown, _context, details) => {
        const { text, call_id } = await call(name, input, details?.signal);
        if (details?.toolCall && call_id !== undefined) receipts.set(details.toolCall.callId, call_id);
        return text;
      },
      customDataExtractor: ({ toolCall: { callId } }) => {
        const call_id = receipts.get(callId);
        receipts.delete(callId);
        return { call_id };
      },
    });
  });
}

/** The SDK's types know fewer schemas than its API takes: our converter made this one by the rules of the API. */
function schemaOf(parameters: JsonSchema, strict: boolean): SdkSchema {
  return { strict, parameters } as SdkSchema;
}
