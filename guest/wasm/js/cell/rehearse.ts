/**
 * Runs a skill of ours once, in an engine that is then dropped, so that V8 has compiled what every skill needs.
 *
 * @module
 */
import type { JsInit } from '../../../protocol.ts';
import { collectNow } from '../../imaged/garbage.ts';
import type { EngineCode } from '../engine/quickjs.ts';
import { JsCell, NOBODY } from './js-cell.ts';

const SOURCE = 'export function execute() { return {}; }';
const INIT: JsInit = {
  entry: 'skill.js',
  limits: { pages: 256, output: 4096, fuel: 1_000_000_000 },
  preopens: [],
  prelude: { env: {}, declaredEnv: [], observe: false },
};

export async function rehearse(code: EngineCode, prelude: ReadonlyMap<string, string>): Promise<void> {
  await run(code, prelude);
  collectNow();
}

/** A separate function: its frame would keep the engine alive. */
async function run(code: EngineCode, prelude: ReadonlyMap<string, string>): Promise<void> {
  const cell = new JsCell({ code, init: INIT, texts: { bundle: new Map([['skill.js', SOURCE]]), prelude } });
  await cell.call(new TextEncoder().encode('{}'), NOBODY);
}
