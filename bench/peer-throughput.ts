/**
 * The throughput of other sandboxes with as many callers as ours, in the same run: their calls come from the same code as ours
 * (Monty's from Python), and every output is checked.
 *
 * @module
 */
import { inBenchFolder } from './runner/bench-folder.ts';
import { ECHO_WORDS } from './runner/jobs.ts';
import { plainCommand, runCommand, type Command } from './runner/plain.ts';
import { assertSame } from './runner/rounds.ts';
import { columns } from './runner/table.ts';
import type { Throughput } from './runner/throughput.ts';

/** How many calls come in, and for how long. */
export interface Load {
  callers: number;
  seconds: number;
}

/** What a peer's process answers to a load that it cannot serve. */
export interface FailedLoad {
  error: string;
}

/** What it answers otherwise. */
export interface LoadAnswer extends Omit<Throughput, 'starts'> {
  /** Of every call. */
  output: unknown;
}

export type ThroughputFigures = Pick<
  Throughput,
  'callers' | 'callsPerSecond' | 'medianMs' | 'p99Ms' | 'failed'
>;

export interface PeerThroughput {
  name: string;
  /** How it uses the cores. */
  note: string;
  throughput: ThroughputFigures;
}

export interface PeerThroughputs {
  measured: PeerThroughput[];
  /** What could not be measured, and why. */
  leftOut: string[];
}

/** `work` loads one peer. A peer that fails or returns something else is left out. */
export async function loadPeer(
  { name, note }: Pick<PeerThroughput, 'name' | 'note'>,
  expected: unknown,
  work: () => Promise<LoadAnswer | FailedLoad>,
): Promise<PeerThroughputs> {
  try {
    const answer = await work();
    if ('error' in answer) throw new Error(answer.error);
    const { callers, callsPerSecond, medianMs, p99Ms, failed, output } = answer;
    assertSame(name, JSON.stringify(output), JSON.stringify(expected));
    const throughput = { callers, callsPerSecond, medianMs, p99Ms, failed };
    return { measured: [{ name, note, throughput }], leftOut: [] };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { measured: [], leftOut: [`${name} under load: ${reason}`] };
  }
}

/** The result of the small Python skill without any sandbox, and the command that gives it. */
export async function withEchoCommand<T>(
  work: (command: Command, expected: unknown) => Promise<T>,
): Promise<T> {
  return inBenchFolder(async (folder) => {
    const command = plainCommand(ECHO_WORDS, folder);
    const { result } = await runCommand(command);
    return work(command, result);
  });
}

/** The answer of a peer whose output is JSON text. */
export function withParsedOutput(answer: LoadAnswer | FailedLoad): LoadAnswer | FailedLoad {
  return 'error' in answer ? answer : { ...answer, output: JSON.parse(String(answer.output)) };
}

export interface OurThroughput {
  name: string;
  throughput: ThroughputFigures;
}

/** Of the bench of jails. Older reports have one number of callers. */
export function nativeThroughputs(report: {
  crowds?: readonly ThroughputFigures[];
  throughput?: ThroughputFigures;
}): OurThroughput[] {
  const crowds = report.crowds ?? (report.throughput ? [report.throughput] : []);
  return crowds.map((throughput) => ({ name: 'native Python', throughput }));
}

/** Ours first. */
export function formatThroughputs(ours: readonly OurThroughput[], peers: readonly PeerThroughput[]): string {
  const rows = [...ours.map((row) => ({ ...row, note: 'ours' })), ...peers];
  return [
    'Throughput beside other sandboxes, each with all callers at once',
    columns([
      ['', 'callers', 'calls/s', 'median', 'p99', 'failed'],
      ...rows.map(({ name, throughput: { callers, callsPerSecond, medianMs, p99Ms, failed } }) => [
        name,
        String(callers),
        callsPerSecond.toFixed(0),
        medianMs.toFixed(1),
        p99Ms.toFixed(1),
        String(failed),
      ]),
    ]),
    ...peers.map(({ name, note }) => `${name}: ${note}.`),
  ].join('\n');
}
