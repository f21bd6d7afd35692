/**
 * The behaviour that every cell must have, in every mode and with every start kind. Each of them calls this with its own
 * way to run a skill.
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
  /** The expected start kind; absent if one process serves many calls. */
  start?: StartKind;
  /** True if the skill itself is a process of the operating system. */
  isProcess: boolean;
  /** Added to the manifest of every skill, such as its image. */
  manifest?: Record<string, unknown>;
  /** Timeout in milliseconds for tests of the timeout: enough for a harmless call, including the start. Default: 700. */
  patience?: number;
  /** False if its processes are in no control group. Default: true. */
  isGrouped?: boolean;
  /** PATH inside the cell. Default: the PATH of a jail. */
  path?: string;
  /** The uid that the skill sees. Default: nobody. */
  uid?: number;
  /** A host file that a cell does not see. Default: one that an image would also have. */
  hostFile?: string;
  /** Runs the skill in this folder once; never throws because of the skill. */
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
