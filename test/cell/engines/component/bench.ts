/**
 * Writes bundles around a binary, runs them and checks the outcome.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import type { ExecuteOptions, Runtime } from '../../../../src/index.ts';
import type { Failure, Outcome, Success } from '../../../../src/outcome.ts';

export interface WasmSkill {
  binary: Uint8Array;
  /** Added to a manifest that requests nothing. */
  manifest?: Record<string, unknown>;
  files?: Record<string, string>;
}

let written = 0;

/** Writes a bundle below `folder` and returns its path. */
export function writeWasmSkill(folder: string, { binary, manifest = {}, files = {} }: WasmSkill): string {
  const name = `wasm_${++written}`;
  const dir = join(folder, 'skills', name);
  const whole = {
    name: `test/${name}`,
    version: '1.0.0',
    description: 'A skill of a test.',
    execution: 'wasm',
    capabilities: {},
    ...manifest,
  };
  const all = { 'manifest.yaml': JSON.stringify(whole), 'skill.wasm': binary, ...files };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
  return dir;
}

const MOST_TRIES = 10;

export class WasmBench {
  readonly #runtime: Runtime;
  readonly #folder: string;

  constructor(runtime: Runtime, folder: string) {
    this.#runtime = runtime;
    this.#folder = folder;
  }

  skill(binary: Uint8Array, manifest: Record<string, unknown> = {}): string {
    return writeWasmSkill(this.#folder, { binary, manifest });
  }

  run(dir: string, params: unknown = { go: true }, options: ExecuteOptions = {}): Promise<Outcome> {
    return this.#runtime.execute(dir, params, { ...options, reject: false });
  }

  async succeed(dir: string, params: unknown = { go: true }, options: ExecuteOptions = {}): Promise<Success> {
    const outcome = await this.run(dir, params, options);
    if (!outcome.ok) expect.fail(`${outcome.error.code}: ${outcome.error.message}\n${outcome.logs}`);
    expect(outcome.execution).toMatchObject({ mode: 'wasm', engine: 'component', fresh: true });
    return outcome;
  }

  /** Runs a call that must fail, and checks that the next call of the same skill works. */
  async fail(dir: string, options: ExecuteOptions = {}, next: ExecuteOptions = options): Promise<Failure> {
    const outcome = await this.run(dir, { go: true }, options);
    if (outcome.ok) expect.fail(`It succeeded: ${JSON.stringify(outcome.result)?.slice(0, 500)}`);
    expect((await this.#next(dir, next)).result).toBe('fine');
    return outcome;
  }

  /** A harmless call. On a busy machine it can exceed a short timeout too, and is then made again. */
  async #next(dir: string, options: ExecuteOptions): Promise<Success> {
    for (let tries = 1; tries < MOST_TRIES; tries++) {
      const outcome = await this.run(dir, {}, options);
      if (outcome.ok || outcome.error.detail['limit'] !== 'timeout') break;
    }
    return this.succeed(dir, {}, options);
  }
}
