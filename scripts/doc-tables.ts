/**
 * Puts the figures from `bench/results/` and tables derived from the code into the documents, so that none is copied by hand, and
 * draws the plots:
 *
 *     node scripts/doc-tables.ts
 *
 * A document marks a place with `<!-- figures:NAME -->` and `<!-- /figures -->`; the text between them is replaced.
 *
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newestResult } from '../bench/saved-results.ts';
import type { GrowthReport } from '../bench/growth/run-growth.ts';
import { nativeThroughputs, type PeerThroughput } from '../bench/peer-throughput.ts';
import type { LoadReport } from '../bench/load/run-load.ts';
import type { ContainerReport } from '../bench/runner/container/run-container-bench.ts';
import type { DistributionReport } from '../bench/distribution/run-distribution-bench.ts';
import type { GatewayReport } from '../bench/runner/gateway/run-gateway-bench.ts';
import type { MachineFacts } from '../bench/runner/machine.ts';
import type { BenchReport } from '../bench/runner/run-bench.ts';
import type { WasmReport } from '../bench/runner/wasm/run-wasm-bench.ts';
import type { ProgramReport } from '../bench/runner/programs/run-program-bench.ts';
import type { PythonWasmReport } from '../bench/runner/python-wasm/run-python-wasm-bench.ts';
import type { SimulationReport } from '../bench/simulation/run-simulation.ts';
import type { SkillwareReport } from './compare-skillware.ts';
import type { AgentSkillsReport } from './agent-skills/report.ts';
import {
  formatAgentSkillAnswers,
  formatAgentSkillLoads,
  formatAgentSkillReasons,
  formatAgentSkillTasks,
  formatAgentSkillWasm,
  formatInject,
} from './documents/agent-skills-tables.ts';
import { formatApi } from './documents/api-tables.ts';
import {
  formatAims,
  formatContainerCalls,
  formatGatewayCalls,
  formatJailCalls,
  formatJailCrowd,
  formatPeerCalls,
  formatWasmLanguages,
  formatWasmSizes,
} from './documents/bench-tables.ts';
import { formatDistributionCosts, formatLies } from './documents/distribution-tables.ts';
import { formatErrorCodes, formatLimitNames } from './documents/error-tables.ts';
import { growthPlots, PLOTS_FOLDER } from './documents/growth-plots.ts';
import { formatLoadCalls, formatLoadVerdicts } from './documents/load-tables.ts';
import { formatManifestKeys } from './documents/manifest-table.ts';
import {
  formatAimDates,
  formatGrowthCallers,
  formatGrowthSkills,
  formatSpeedAims,
  formatThroughputTable,
} from './documents/performance-tables.ts';
import { formatProgramCalls } from './documents/program-tables.ts';
import { formatSimulationAssumptions, formatSimulationRows } from './documents/simulation-tables.ts';
import { formatModes, formatPyodide, formatWays } from './documents/mode-tables.ts';
import { formatMatrix as formatStudyMatrix, formatStudyCosts } from '../src/study/format.ts';
import type { BundledReport } from './study-bundled.ts';
import {
  formatCallsTable,
  formatCpuTable,
  formatImagesTable,
  formatKernelsTable,
  formatPythonStart,
  formatPythonSummary,
  formatTargetsTable,
} from './python-wasm-tables.ts';
import {
  formatClasses,
  formatCosts,
  formatEquality,
  formatMatrix,
  formatReasons,
} from './skillware-table.ts';
import { ROOT, runTool } from './steps.ts';

export const DOCUMENTS: readonly string[] = [
  'README.md',
  'docs/agent-skills.md',
  'docs/api.md',
  'docs/cluster.md',
  'docs/compare.md',
  'docs/distribution.md',
  'docs/errors.md',
  'docs/http.md',
  'docs/manifest.md',
  'docs/performance.md',
  'docs/programs.md',
  'docs/skillware.md',
  'docs/security/README.md',
  'docs/security/containers.md',
  'docs/security/subprocess-isolation.md',
  'docs/security/trust-model.md',
  'docs/security/wasm-feasibility.md',
];

/** What the bench adds to a report of ours. */
type WithPeers<Report> = Report & { peerThroughputs?: PeerThroughput[] };

const jail = (): WithPeers<BenchReport> => newestResult() as BenchReport;
const wasm = (): WithPeers<WasmReport> => newestResult('wasm') as WasmReport;
const bundled = (): BundledReport => newestResult('study') as BundledReport;
const container = (): ContainerReport => newestResult('container') as ContainerReport;
const gateway = (): GatewayReport => newestResult('gateway') as GatewayReport;
const bench = (): WithPeers<PythonWasmReport> => newestResult('python-wasm') as PythonWasmReport;
const distribution = (): DistributionReport => newestResult('distribution') as DistributionReport;
const load = (): LoadReport => newestResult('load') as LoadReport;
const agentSkills = (): AgentSkillsReport => newestResult('agent-skills') as AgentSkillsReport;
const growth = (): GrowthReport => newestResult('growth') as GrowthReport;
const programs = (): ProgramReport => newestResult('programs') as ProgramReport;
const simulation = (): SimulationReport => newestResult('simulation') as SimulationReport;
const skillware = (): SkillwareReport => newestResult('skillware') as SkillwareReport;

const FIGURES: Readonly<Record<string, () => string>> = {
  'python-wasm-summary': () => `${formatPythonSummary(bench())} ${machineOf(bench().machine)}`,
  'python-wasm-machine': () => machineOf(bench().machine),
  'python-wasm-calls': () => formatCallsTable(bench()),
  'python-wasm-start': () => formatPythonStart(bench()),
  'python-wasm-cpu': () => formatCpuTable(bench()),
  'python-wasm-images': () => formatImagesTable(bench()),
  'python-wasm-kernels': () => formatKernelsTable(bench()),
  'python-wasm-targets': () => formatTargetsTable(bench()),
  'skillware-machine': () => machineOf(skillware().machine),
  'skillware-equality': () => formatEquality(skillware()),
  'skillware-classes': () => formatClasses(skillware()),
  'skillware-matrix': () => formatMatrix(skillware()),
  'skillware-reasons': () => formatReasons(skillware()),
  'skillware-costs': () => formatCosts(skillware()),
  'agent-skills-machine': () => machineOf(agentSkills().machine),
  'agent-skills-loads': () => formatAgentSkillLoads(agentSkills()),
  'agent-skills-answers': () => formatAgentSkillAnswers(agentSkills()),
  'agent-skills-reasons': () => formatAgentSkillReasons(agentSkills()),
  'agent-skills-wasm': () => formatAgentSkillWasm(agentSkills()),
  'agent-skills-tasks': () => formatAgentSkillTasks(agentSkills()),
  'agent-skills-inject': () => formatInject(agentSkills()),
  pyodide: formatPyodide,
  modes: formatModes,
  ways: formatWays,
  aims: () => formatAims([jail(), wasm(), bench(), gateway(), container()]),
  'jail-machine': () => machineOf(jail().machine),
  'jail-calls': () => formatJailCalls(jail()),
  'jail-crowd': () => formatJailCrowd(jail()),
  'wasm-machine': () => machineOf(wasm().machine),
  'wasm-languages': () => formatWasmLanguages(wasm()),
  'wasm-sizes': () => formatWasmSizes(wasm()),
  'wasm-peers': () => formatPeerCalls(wasm()),
  'modes-machine': modesMachine,
  'container-machine': () => machineOf(container().machine),
  'container-calls': () => formatContainerCalls(container()),
  'gateway-calls': () => formatGatewayCalls(gateway()),
  'distribution-machine': () => machineOf(distribution().machine),
  'distribution-costs': () => formatDistributionCosts(distribution()),
  'registry-lies': formatLies,
  'load-machine': () => machineOf(load().machine),
  'load-calls': () => formatLoadCalls(load()),
  'load-verdicts': () => formatLoadVerdicts(load()),
  'program-machine': () => machineOf(programs().machine),
  'program-calls': () => formatProgramCalls(programs()),
  'speed-aims': formatSpeedAims,
  'speed-aims-dates': formatAimDates,
  'growth-machine': () => machineOf(growth().machine),
  'growth-callers': () => formatGrowthCallers(growth()),
  'growth-skills': () => formatGrowthSkills(growth()),
  'native-throughput': () => formatThroughputTable(nativeThroughputs(jail()), jail().peerThroughputs),
  'wasm-throughput': () =>
    formatThroughputTable(
      wasm().crowds.map(({ language, throughput }) => ({ name: language, throughput })),
      wasm().peerThroughputs,
    ),
  'python-throughput': () =>
    formatThroughputTable(
      [{ name: 'Python in Wasm', throughput: bench().crowd.throughput }],
      bench().peerThroughputs,
    ),
  'simulation-assumptions': () => formatSimulationAssumptions(simulation()),
  'simulation-rows': () => formatSimulationRows(simulation()),
  'study-machine': () => machineOf(bundled().machine),
  'study-matrix': () => formatStudyMatrix(bundled().study),
  'study-costs': () => formatStudyCosts(bundled().study),
  api: formatApi,
  'error-codes': formatErrorCodes,
  'limit-names': formatLimitNames,
  'manifest-keys': formatManifestKeys,
};

/** The document with the newest figures. */
export function withFigures(text: string): string {
  return text.replaceAll(
    /<!-- figures:([\w-]+) -->\n[\s\S]*?<!-- \/figures -->/g,
    (_whole, name: string) => `<!-- figures:${name} -->\n\n${figuresOf(name)}\n\n<!-- /figures -->`,
  );
}

function figuresOf(name: string): string {
  const figures = FIGURES[name];
  if (!figures) throw new Error(`A document refers to unknown figures "${name}"`);
  return figures();
}

/** The modes were measured one after the other, so the load of the machine differs between them. */
function modesMachine(): string {
  const { cores, cpu, memory, kernel, node } = wasm().machine;
  const reports = { components: wasm(), Python: bench(), subprocess: jail(), container: container() };
  const loads = Object.entries(reports).map(
    ([name, { machine }]) => `${name} ${machine.loadAtStart.toFixed(1)} to ${machine.loadAtEnd.toFixed(1)}`,
  );
  const days = new Set(Object.values(reports).map(({ machine }) => machine.date.slice(0, 10)));
  return (
    `Measured on ${[...days].toSorted().join(' and ')}: ${cores} cores (${cpu}), ${memory}, Linux ${kernel}, Node ${node}. ` +
    `Load of the machine during each run: ${loads.join(', ')}. The figure for \`in_process\` is from [the study](docs/security/subprocess-isolation.md#what-breaks).`
  );
}

function machineOf({ date, cores, cpu, memory, kernel, node, loadAtStart, loadAtEnd }: MachineFacts): string {
  return (
    `Measured on ${date.slice(0, 10)}: ${cores} cores (${cpu}), ${memory}, Linux ${kernel}, Node ${node}; ` +
    `load ${loadAtStart.toFixed(1)} at the start, ${loadAtEnd.toFixed(1)} at the end.`
  );
}

/** The text of every plot, by the name of its file. */
export function savedPlots(): Record<string, string> {
  return growthPlots(growth());
}

if (import.meta.main) {
  mkdirSync(join(ROOT, PLOTS_FOLDER), { recursive: true });
  for (const [file, svg] of Object.entries(savedPlots())) writeFileSync(join(ROOT, PLOTS_FOLDER, file), svg);
  for (const document of DOCUMENTS) {
    const file = join(ROOT, document);
    writeFileSync(file, withFigures(readFileSync(file, 'utf8')));
  }
  process.exitCode = runTool('oxfmt', [...DOCUMENTS]) ? 0 : 1;
}
