/**
 * The code mode of the AI SDK, with programs in cells.
 *
 * @module
 */
import { SkillError } from '../../errors.ts';
import type { Runtime } from '../../runtime.ts';
import { validInput } from './ai-sdk-input.ts';
import { runToolProgram, type CodeModeOptions, type HostTool } from './tool-program.ts';

/** What `experimental_createCodeModeTool` returns, as far as it matters here. */
interface CreatedTool {
  execute?: unknown;
}

interface AiSdkTool {
  inputSchema?: unknown;
  execute?: ((input: never, options: never) => unknown) | undefined;
  needsApproval?: unknown;
}

interface ExecutionPolicy {
  timeoutMs?: number;
  memoryLimitBytes?: number;
  maxStackSizeBytes?: number;
  maxResultBytes?: number;
  maxConsoleOutputBytes?: number;
  maxSourceBytes?: number;
  maxToolInputBytes?: number;
  maxToolOutputBytes?: number;
  maxBridgeRequests?: number;
  maxInFlightBridgeRequests?: number;
}

type Defaulted =
  | 'timeoutMs'
  | 'maxSourceBytes'
  | 'maxToolInputBytes'
  | 'maxToolOutputBytes'
  | 'maxBridgeRequests';

interface AiSdkOptions {
  executionPolicy?: ExecutionPolicy;
  approval?: { mode?: string; onApprovalRequired?: unknown };
}

interface CallOptions {
  toolCallId: string;
  messages: unknown[];
  abortSignal?: AbortSignal;
}

const DEFAULTS: Required<Pick<ExecutionPolicy, Defaulted>> = {
  timeoutMs: 30_000,
  maxSourceBytes: 256 * 1024,
  maxToolInputBytes: 1024 * 1024,
  maxToolOutputBytes: 4 * 1024 * 1024,
  maxBridgeRequests: 256,
};
const ENFORCED: ReadonlySet<string> = new Set<keyof ExecutionPolicy>([
  'timeoutMs',
  'memoryLimitBytes',
  'maxResultBytes',
  'maxSourceBytes',
  'maxToolInputBytes',
  'maxToolOutputBytes',
  'maxBridgeRequests',
]);

/**
 * Makes `experimental_createCodeModeTool` of `@ai-sdk/code-mode` run its programs in cells: same arguments, same tool.
 *
 * @example
 * ```ts
 * import { experimental_createCodeModeTool } from '@ai-sdk/code-mode';
 * import { createRuntime } from 'skillcell';
 * import { aiSdkCodeMode } from 'skillcell/codemode';
 *
 * await using runtime = createRuntime();
 * const createCodeModeTool = aiSdkCodeMode(runtime, experimental_createCodeModeTool);
 * const tool = createCodeModeTool({});
 * ```
 */
export function aiSdkCodeMode<Tools extends object, Options extends object, Created extends object>(
  runtime: Runtime,
  create: (tools: Tools, options?: Options) => Created,
  options: CodeModeOptions = {},
): (tools: Tools, options?: Options) => Created {
  return (tools, given) => {
    const { executionPolicy = {}, approval } = (given ?? {}) as AiSdkOptions;
    assertSupported(tools as Record<string, AiSdkTool>, executionPolicy, approval);
    const policy = { ...DEFAULTS, ...executionPolicy };
    // The package writes the description and the schema; only what runs the program is replaced.
    const created: CreatedTool = create(tools, given);
    const execute = async ({ js }: { js: string }, call: CallOptions): Promise<unknown> => {
      if (Buffer.byteLength(js) > policy.maxSourceBytes)
        throw new Error(`The source is larger than ${policy.maxSourceBytes} bytes`);
      const program = {
        prelude: PRELUDE,
        body: js,
        tools: hostTools(tools as Record<string, AiSdkTool>, { policy, call }),
        limits: limitsOf(policy),
        signal: call.abortSignal,
      };
      const { result, error } = await runToolProgram(runtime, program, options);
      if (error) throw Object.assign(new Error(error.message), { name: error.name });
      return result;
    };
    return { ...created, execute } as unknown as Created;
  };
}

const PRELUDE =
  `const tools = new Proxy(Object.create(null), { get: (_, tool) => ` +
  `typeof tool === 'string' && tool !== 'then' ? (input) => call(tool, [input]) : undefined });`;

type Policy = ExecutionPolicy & Required<Pick<ExecutionPolicy, Defaulted>>;

function limitsOf(policy: Policy): NonNullable<CodeModeOptions['limits']> {
  const { timeoutMs, memoryLimitBytes, maxResultBytes, maxBridgeRequests } = policy;
  return {
    // A bare number would be seconds.
    timeout: `${timeoutMs}ms`,
    calls: maxBridgeRequests,
    ...(memoryLimitBytes === undefined ? {} : { memory: memoryLimitBytes }),
    ...(maxResultBytes === undefined ? {} : { output: maxResultBytes }),
  };
}

/** Refuses what would otherwise silently not hold. */
function assertSupported(
  tools: Record<string, AiSdkTool>,
  policy: ExecutionPolicy,
  approval: AiSdkOptions['approval'],
): void {
  const approved = Object.keys(tools).find((name) => {
    const { needsApproval = false } = tools[name] ?? {};
    return needsApproval !== false;
  });
  // One that we do not know may be of a newer version of the package.
  const limit = Object.keys(policy).find(
    (name) => !ENFORCED.has(name) && policy[name as keyof ExecutionPolicy] !== undefined,
  );
  const problem =
    (limit && `The limit "${limit}" is not enforced in a cell`) ??
    (approved === undefined
      ? undefined
      : `The tool "${approved}" needs an approval, which programs in cells cannot wait for`) ??
    (approval === undefined ? undefined : 'Approvals are not supported for programs in cells');
  if (problem === undefined) return;
  throw new SkillError('unenforceable', problem, {
    fix: 'Leave it out, or offer the tool outside of the code mode.',
  });
}

function hostTools(
  tools: Record<string, AiSdkTool>,
  { policy, call }: { policy: Policy; call: CallOptions },
): Map<string, HostTool> {
  let made = 0;
  const runs = Object.entries(tools).map(([name, tool]): [string, HostTool] => [
    name,
    async ([input], signal) => {
      assertSize(input, policy.maxToolInputBytes, `Tool "${name}" input`);
      if (!tool.execute) throw new Error(`Tool "${name}" does not have execute().`);
      const valid = await validInput(name, tool.inputSchema, input);
      const options = { ...call, abortSignal: signal, toolCallId: `${call.toolCallId}:tool-${made++}` };
      const output = await lastOf(tool.execute(valid as never, options as never));
      assertSize(output, policy.maxToolOutputBytes, `Tool "${name}" output`);
      return output;
    },
  ]);
  return new Map(runs);
}

function assertSize(value: unknown, max: number, what: string): void {
  const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
  if (bytes > max) throw new Error(`${what} is ${bytes} bytes; the maximum is ${max}`);
}

/** A tool may stream; its last part is the result. */
async function lastOf(output: unknown): Promise<unknown> {
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output)) return output;
  let last: unknown;
  for await (const part of output as AsyncIterable<unknown>) last = part;
  return last;
}
