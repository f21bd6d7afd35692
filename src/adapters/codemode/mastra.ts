/**
 * A transport for the code mode of Mastra.
 *
 * @module
 */
import type { Runtime } from '../../runtime.ts';
import { runToolProgram, type CodeModeOptions, type HostTool } from './tool-program.ts';

/** What Mastra hands to a transport. */
export interface MastraCodeModeRun {
  program: string;
  toolIds: string[];
  dispatch: (tool: string, args: unknown) => Promise<unknown>;
  timeout: number;
  abortSignal?: AbortSignal;
  onExternalCall?: (tool: string, args: unknown) => void;
  onExternalResult?: (tool: string, durationMs: number, error?: unknown) => void;
}

/** `CodeModeToolResult` of Mastra. */
export interface MastraCodeModeResult {
  success: boolean;
  result?: unknown;
  logs?: string[];
  error?: { message: string; name?: string; line?: number };
}

/** `CodeModeTransport` of Mastra. */
export interface MastraCodeModeTransport {
  /** A cell is the sandbox. */
  readonly requiresSandbox: false;
  run(opts: MastraCodeModeRun): Promise<MastraCodeModeResult>;
}

/**
 * Runs the programs of Mastra's code mode in cells.
 *
 * @example
 * ```ts
 * import { createCodeMode } from '@mastra/core/tools';
 * import { createRuntime } from 'skillcell';
 * import { mastraTransport } from 'skillcell/codemode';
 *
 * await using runtime = createRuntime();
 * const { tool, instructions } = createCodeMode({ tools: {} }, mastraTransport(runtime));
 * ```
 */
export function mastraTransport(runtime: Runtime, options: CodeModeOptions = {}): MastraCodeModeTransport {
  return {
    requiresSandbox: false,
    run: async (opts) => {
      const { program: body, toolIds, timeout, abortSignal } = opts;
      const program = {
        prelude: toolIds
          .map((id) => `const ${externalName(id)} = (input) => call(${JSON.stringify(id)}, [input]);`)
          .join(' '),
        body,
        tools: new Map(toolIds.map((id) => [id, toolOf(id, opts)])),
        limits: { timeout: `${timeout}ms` },
        signal: abortSignal,
      };
      const { result, error, logs } = await runToolProgram(runtime, program, options);
      return { success: error === undefined, logs, ...(error ? { error } : { result }) };
    },
  };
}

function toolOf(id: string, { dispatch, onExternalCall, onExternalResult }: MastraCodeModeRun): HostTool {
  return async ([input]) => {
    const began = performance.now();
    onExternalCall?.(id, input);
    try {
      const result = await dispatch(id, input);
      onExternalResult?.(id, performance.now() - began);
      return result;
    } catch (error) {
      onExternalResult?.(id, performance.now() - began, error);
      throw error;
    }
  };
}

/** As Mastra declares the tool to the model. */
function externalName(id: string): string {
  const cleaned = id.replaceAll(/[^\w$]/g, '_');
  return `external_${/^[A-Za-z_$]/.test(cleaned) ? cleaned : `_${cleaned}`}`;
}
