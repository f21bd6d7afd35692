/**
 * The peers' job as a component with StarlingMonkey inside, built when the bench starts: it is 12 MB, and its tools
 * are too large to install for a skill.
 *
 * @module
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../scripts/steps.ts';
import { installPeerPackages } from './peer-process.ts';
import { builtLanguages, STARLINGMONKEY, writeBundle, type Language } from './runner/wasm/languages.ts';

const FOLDER = join(import.meta.dirname, 'starlingmonkey');

export class StarlingMonkey implements Disposable {
  /** Undefined if it could not be built. */
  readonly language: Language | undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), 'skillcell-bench-starlingmonkey-'));

  constructor() {
    const dir = join(this.#folder, 'text', 'word_stats_js');
    const output = join(this.#folder, 'skill.wasm');
    const [like] = builtLanguages();
    const isMade =
      installPeerPackages(FOLDER) &&
      runProgram(process.execPath, [join(FOLDER, 'build.js'), output], { cwd: FOLDER });
    if (!like || !isMade) return;
    writeBundle(like, dir, readFileSync(output));
    this.language = { name: STARLINGMONKEY, dir };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
