/**
 * A scripted model of the AI SDK, which Mastra takes as well: calls one tool, then says that it is done.
 *
 * @module
 */
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test';
import { FINAL, type Seen, type Turn } from './contract.ts';

type Result = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;
type Call = MockLanguageModelV4['doGenerateCalls'][number];

const USAGE: Result['usage'] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

export function scriptedModel({ tool, args }: Turn): MockLanguageModelV4 {
  const input = JSON.stringify(args);
  const isFirst = ({ prompt }: Call): boolean => !prompt.some(({ role }) => role === 'tool');
  return new MockLanguageModelV4({
    doGenerate: async (call) => ({
      content: isFirst(call)
        ? [{ type: 'tool-call', toolCallId: 'call-1', toolName: tool, input }]
        : [{ type: 'text', text: FINAL }],
      finishReason: isFirst(call)
        ? { unified: 'tool-calls', raw: undefined }
        : { unified: 'stop', raw: undefined },
      usage: USAGE,
      warnings: [],
    }),
    doStream: async (call) => ({
      stream: convertArrayToReadableStream([
        { type: 'stream-start', warnings: [] },
        ...(isFirst(call)
          ? [{ type: 'tool-call' as const, toolCallId: 'call-1', toolName: tool, input }]
          : [
              { type: 'text-start' as const, id: 'text-1' },
              { type: 'text-delta' as const, id: 'text-1', delta: FINAL },
              { type: 'text-end' as const, id: 'text-1' },
            ]),
        {
          type: 'finish',
          usage: USAGE,
          finishReason: isFirst(call)
            ? { unified: 'tool-calls', raw: undefined }
            : { unified: 'stop', raw: undefined },
        },
      ]),
    }),
  });
}

/** What the model was sent. */
export function seenBy(
  calls: readonly Call[],
  { tool }: Turn,
): Pick<Seen, 'tools' | 'schema' | 'read' | 'isError'> {
  const tools = (calls[0]?.tools ?? []).flatMap((one) => (one.type === 'function' ? [one] : []));
  const parts = (calls.at(-1)?.prompt ?? []).flatMap(({ role, content }) => (role === 'tool' ? content : []));
  const [output] = parts.flatMap((part) => (part.type === 'tool-result' ? [part.output] : []));
  const isText = output?.type === 'text' || output?.type === 'error-text';
  return {
    tools: tools.map(({ name }) => name),
    schema: tools.find(({ name }) => name === tool)?.inputSchema,
    read: isText ? output.value : JSON.stringify(output),
    isError: output?.type.startsWith('error') ?? false,
  };
}
