/**
 * What a fuzz target is, and the loop that all of them share: every input is derived from one number, so a finding can be
 * reproduced from its seed.
 *
 * @module
 */

export interface FuzzOptions {
  seconds: number;
  /** Inputs have the seeds `seed`, `seed + 1`, … */
  seed: number;
  /** Stops after this many inputs. */
  runs?: number;
}

export interface Finding {
  seed: number;
  what: string;
}

export interface FuzzReport {
  runs: number;
  /** Inputs that were not refused: a fuzzer whose inputs are all refused immediately tests little. */
  accepted: number;
  findings: Finding[];
}

export interface FuzzTarget {
  name: string;
  /** Number of inputs that the suite tries for each of its seeds; 300 if unset. For targets whose inputs are slow or very fast. */
  suiteRuns?: number;
  run(options: FuzzOptions): Promise<FuzzReport>;
}

export interface TargetParts<Input> {
  name: string;
  suiteRuns?: number;
  /** The input for a seed. */
  input: (seed: number) => Input;
  /** Returns whether the input was accepted; an intended refusal returns false. Throws on a finding. */
  check: (input: Input) => boolean | Promise<boolean>;
  /** Runs before the first input; the function that it returns runs after the last one. */
  open?: () => Promise<() => Promise<void>>;
}

const MAX_FINDINGS = 10;
/** CPU time of this process for one input. Wall time would depend on other programs on a busy machine. */
const SLOW_CPU_MS = 2_000;

export function fuzzTarget<Input>(parts: TargetParts<Input>): FuzzTarget {
  const { name, suiteRuns, open } = parts;
  const run = async (options: FuzzOptions): Promise<FuzzReport> => {
    const close = await open?.();
    try {
      return await fuzz(parts, options);
    } finally {
      await close?.();
    }
  };
  return { name, run, ...(suiteRuns !== undefined && { suiteRuns }) };
}

async function fuzz<Input>(parts: TargetParts<Input>, options: FuzzOptions): Promise<FuzzReport> {
  const report: FuzzReport = { runs: 0, accepted: 0, findings: [] };
  const deadline = Date.now() + options.seconds * 1_000;
  const runs = options.runs ?? Number.POSITIVE_INFINITY;
  while (Date.now() < deadline && report.runs < runs && report.findings.length < MAX_FINDINGS) {
    const seed = options.seed + report.runs;
    report.runs++;
    const { accepted, what } = await tryInput(parts, seed);
    if (accepted) report.accepted++;
    if (what !== undefined) report.findings.push({ seed, what });
  }
  return report;
}

async function tryInput<Input>(
  { input, check }: TargetParts<Input>,
  seed: number,
): Promise<{ accepted: boolean; what?: string }> {
  const before = process.cpuUsage();
  try {
    const accepted = await check(input(seed));
    const { user, system } = process.cpuUsage(before);
    const took = Math.round((user + system) / 1_000);
    return took > SLOW_CPU_MS ? { accepted, what: `Took ${took} ms of CPU time` } : { accepted };
  } catch (error) {
    return {
      accepted: true,
      what: error instanceof Error ? (error.stack ?? error.message) : String(error),
    };
  }
}
