/**
 * Skills as tools of LangChain JS and LangGraph.
 *
 * @module
 */
import { ToolMessage } from '@langchain/core/messages';
import {
  DynamicStructuredTool,
  ToolInputParsingException,
  type ToolRunnableConfig,
} from '@langchain/core/tools';
import type { JsonSchema } from '../manifest/manifest.ts';
import type { Runtime } from '../runtime.ts';
import { skillTools, type AdapterOptions, type SkillToolOutput } from './skill-tools.ts';

/** A skill as a tool of LangChain; the parameters are described by JSON Schema. */
export type LangChainTool = DynamicStructuredTool<JsonSchema>;

/**
 * Offers skills as tools of LangChain JS. A tool call gives a `ToolMessage`: its `artifact` has the result and the
 * `call_id` of the receipt, and its `status` is `error` if the call failed.
 *
 * @example
 * ```ts
 * import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
 * import { createRuntime } from 'skillcell';
 * import { langchainTools } from 'skillcell/langchain';
 *
 * export async function ask(model: BaseChatModel, prompt: string): Promise<unknown> {
 *   await using runtime = createRuntime();
 *   const tools = await langchainTools(runtime, { skills: 'text/*' });
 *   return model.bindTools?.(tools).invoke(prompt);
 * }
 * ```
 */
export async function langchainTools(
  runtime: Runtime,
  options: AdapterOptions = {},
): Promise<LangChainTool[]> {
  const offered = await skillTools(runtime, options);
  return offered.map(
    ({ name, description, parameters, call }) =>
      new UncheckedTool({
        name,
        description,
        schema: parameters,
        func: async (input: unknown, _manager, config) => {
          const { signal, toolCall }: ToolRunnableConfig = config ?? {};
          return message(await call(input, signal), name, toolCall?.id);
        },
      }),
  );
}

/**
 * LangChain throws if arguments do not fit the schema. The runtime checks them too, tells the model what is wrong and writes a
 * receipt, so the call goes on to it.
 */
class UncheckedTool extends DynamicStructuredTool<JsonSchema> {
  override async call(args: unknown, config?: ToolRunnableConfig, tags?: string[]): Promise<never> {
    try {
      return (await super.call(args as never, config, tags)) as never;
    } catch (error) {
      if (!(error instanceof ToolInputParsingException)) throw error;
      return (await this.func(args, undefined, config)) as never;
    }
  }
}

/** Outside of a tool call, a tool gives what the model would read. */
function message(output: SkillToolOutput, name: string, id: string | undefined): ToolMessage | string {
  const { ok, text } = output;
  if (id === undefined) return text;
  return new ToolMessage({
    content: text,
    name,
    tool_call_id: id,
    artifact: output,
    status: ok ? 'success' : 'error',
  });
}
