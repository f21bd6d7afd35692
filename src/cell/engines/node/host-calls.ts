/**
 * Calls that run in the host process, without a cell. The verified copy is imported once, so calls share module state.
 *
 * @module
 */
import type { FailureFields } from '../../../../guest/protocol.ts';
import { cellReport } from '../../protocol/report.ts';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bundle } from '../../../load/bundle.ts';
import type { Grant } from '../../../policy/grant.ts';
import type { CellReport, GuestReply, Job } from '../../contract.ts';
import { parseGuestJson } from '../../protocol/guest-json.ts';
import { JsonText, MAX_JSON_HERE } from '../../../json-text.ts';
import { asError } from '../../protocol/guest-frames.ts';
import { stageGuestCode } from '../node-process/guest-code.ts';

import { HostLog, HostLogs } from './host-logs.ts';

/** The parts of `guest/node` that define how a skill is called, in a cell or in the host. */
interface EntryPoint {
  callSkill: (skill: Record<string, unknown>, entry: string, params: unknown) => Promise<string>;
  describeFailure: (error: unknown) => FailureFields;
  hookBundle: (folder: string) => () => void;
}

export class HostCalls {
  readonly #home: string;
  readonly #logs = new HostLogs();
  /** By bundle folder: the function that removes its import hooks. */
  readonly #undoHooks = new Map<string, () => void>();

  constructor({ home }: { home: string }) {
    this.#home = home;
  }

  async call(bundle: Bundle, grant: Grant, { params, signal, onLog }: Job): Promise<CellReport> {
    const entryPoint = await this.#entryPoint();
    this.#hook(bundle, entryPoint);
    const log = new HostLog(grant.limits.output, onLog);
    const began = performance.now();
    const running = this.#logs.capture(log, () => run(bundle, entryPoint, ownCopy(params)));
    const end = await Promise.race([running, whenAborted(signal)]);
    return cellReport({
      start: 'cold',
      started: true,
      reply: end?.reply,
      killReason: end ? undefined : 'aborted',
      logs: log.text,
      logBytes: log.totalBytes,
      resultBytes: end?.resultBytes ?? 0,
      wallMs: performance.now() - began,
    });
  }

  close(): void {
    for (const undo of this.#undoHooks.values()) undo();
    this.#undoHooks.clear();
    this.#logs.close();
  }

  /** Staged as for a cell, because Node does not strip types below node_modules. */
  async #entryPoint(): Promise<EntryPoint> {
    const code = stageGuestCode(this.#home, 'node');
    const names = ['entry-point.js', 'failure.js', 'resolve.js'];
    const modules = await Promise.all(
      names.map((name) => import(pathToFileURL(join(code, 'node', name)).href)),
    );
    return Object.assign({}, ...modules) as EntryPoint;
  }

  #hook({ stagedDir }: Bundle, { hookBundle }: EntryPoint): void {
    if (!this.#undoHooks.has(stagedDir)) this.#undoHooks.set(stagedDir, hookBundle(stagedDir));
  }
}

interface CallEnd {
  reply: GuestReply;
  resultBytes: number;
}

async function run(bundle: Bundle, entryPoint: EntryPoint, params: unknown): Promise<CallEnd> {
  const path = join(bundle.stagedDir, bundle.entry);
  try {
    const skill = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
    const bytes = Buffer.from(await entryPoint.callSkill(skill, bundle.entry, params), 'utf8');
    return { reply: asReply(bytes), resultBytes: bytes.length };
  } catch (error) {
    return { reply: asError(entryPoint.describeFailure(error)), resultBytes: 0 };
  }
}

/** A copy, because the skill may change it. The skill shares this thread, so large text is parsed here as well. */
function ownCopy(params: unknown): unknown {
  return params instanceof JsonText ? JSON.parse(params.toString()) : structuredClone(params);
}

/** Applies the same checks as for JSON from a cell. */
function asReply(bytes: Uint8Array): GuestReply {
  if (bytes.length > MAX_JSON_HERE) return { kind: 'unread', form: 'value', bytes };
  try {
    return { kind: 'result', ...parseGuestJson(bytes) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'error', type: 'NotJson', message, trace: '', explained: 'wholly' };
  }
}

/** Ends the wait of the caller; the skill's code cannot be stopped and goes on. */
function whenAborted(signal: AbortSignal | undefined): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal?.aborted) resolve(undefined);
  signal?.addEventListener('abort', () => resolve(undefined), { once: true });
  return promise;
}
