/**
 * What every cell must do, whichever mode runs it and however its process came to be. Each mode and start
 * kind calls this with its own way to run a skill.
 *
 * @module
 */
import { afterAll, describe } from 'vitest';
import type { ExecuteOptions } from '../../src/index.ts';
import type { Outcome, StartKind } from '../../src/outcome.ts';
import { openFolder, removeFolder } from '../write-skill.ts';
import { denialContract } from './contract/denials.ts';
import { failureContract } from './contract/failures.ts';
import { freshnessContract } from './contract/freshness.ts';
import { limitContract } from './contract/limits.ts';
import { loadingContract } from './contract/loading.ts';
import { processContract } from './contract/processes.ts';
import { resultContract } from './contract/results.ts';
import { Bench } from './contract/bench.ts';

export type ContractPart =
  | 'results'
  | 'loading'
  | 'freshness'
  | 'denials'
  | 'limits'
  | 'failures'
  | 'processes';

const PARTS: Record<ContractPart, (bench: Bench) => void> = {
  results: resultContract,
  loading: loadingContract,
  freshness: freshnessContract,
  denials: denialContract,
  limits: limitContract,
  failures: failureContract,
  processes: processContract,
};

export interface CellUnderTest {
  /** How its cells have to start; absent where one process serves many calls. */
  start?: StartKind;
  /** True when the skill itself is a process of the operating system. */
  isProcess: boolean;
  /** Added to the manifest of every skill, such as the image that it runs in. */
  manifest?: Record<string, unknown>;
  /** In milliseconds, for tests of the timeout: enough for a harmless call, start included. Absent: 700. */
  patience?: number;
  /** False where no control group is around its processes; absent: there is one. */
  isGrouped?: boolean;
  /** Where its programs are; absent: where a jail has them. */
  path?: string;
  /** As whom the skill sees itself; absent: nobody. */
  uid?: number;
  /** A file of the host that a cell does not see; absent: one that an image would have, too. */
  hostFile?: string;
  /** Runs the skill in this folder once; never throws for what the skill does. */
  execute(dir: string, params: unknown, options?: ExecuteOptions): Promise<Outcome>;
}

export function cellContract(name: string, cell: CellUnderTest): void {
  describe(name, () => {
    const folder = openFolder();
    const bench = new Bench(folder, cell);
    afterAll(() => removeFolder(folder));
    for (const [part, contract] of Object.entries(PARTS)) {
      if (part !== 'processes' || cell.isProcess) describe(part, () => contract(bench));
    }
  });
}
