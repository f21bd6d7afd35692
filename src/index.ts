/**
 * The public API of Skillcell. Less common parts have their own subpaths, see `api/`.
 *
 * @module
 */
export type { AuditLog } from './audit/log.ts';
export type { StoredReceipt, Verification } from './audit/queries.ts';
export type { Receipt } from './audit/receipt.ts';
export { commandSecrets, environmentSecrets, fileSecrets } from './broker/secrets/providers.ts';
export type { SecretCallback, SecretContext, SecretProvider } from './broker/secrets/providers.ts';
export type { CallEvent, CallEventName, CallEvents, CallListener, RunningCall } from './calls/events.ts';
export type { PairReport } from './cell/machine.ts';
export type { Turn } from './dispatch/dispatcher.ts';
export { SkillError } from './errors.ts';
export type { ErrorBody } from './errors.ts';
export type { BundleLocation } from './load/load-bundle.ts';
export type { InstallProgress, InstallStep } from './load/install-progress.ts';
export type { AcceptPackages } from './load/install-script.ts';
export type { Installation, InstallOptions } from './load/install-skill.ts';
export type { PackageNeed, PackageProposal } from './load/propose-packages.ts';
export type { PinnedPackage, PinnedPackages } from './load/pins.ts';
export type { Skill } from './load/skill.ts';
export type { Pruned, PrunedEntry, PruneOptions } from './load/prune.ts';
export type { Uninstalled } from './load/uninstall.ts';
export type { WrittenLock } from './load/write-lock.ts';
export type { JsonSchema, Manifest } from './manifest/manifest.ts';
export type {
  CapabilityEvent,
  ChildCall,
  DataFlow,
  Execution,
  Failure,
  Outcome,
  Success,
  Usage,
} from './outcome.ts';
export type { ExplainedCapability } from './policy/explain-grant.ts';
export { DEFAULT_POLICY, parsePolicy } from './policy/operator.ts';
export type { OperatorPolicy } from './policy/operator.ts';
export type { Plan } from './policy/plan.ts';
export type { Overlays } from './overlays.ts';
export type { CapabilitySource } from './policy/capability-sources.ts';
export type { SkillGrants } from './policy/skill-grants.ts';
export type { Allowed } from './record/observation.ts';
export type { Program, ProgramLimits, ProgramMode, ProgramOptions } from './programs/programs.ts';
export { saveRecording } from './record/recording.ts';
export type { Recording } from './record/recording.ts';
export type { CommandResult, CommandSuccess } from './results/command-result.ts';
export type { FileChange } from './results/changed-files.ts';
export type { TenantContext, TenantOption } from './policy/tenant-context.ts';
export type { ExecOptions, ExecuteOptions, RecordOptions, RuntimeOptions } from './runtime-options.ts';
export { Runtime, createRuntime } from './runtime.ts';
export type { TraceContext } from './telemetry/telemetry.ts';
export type { ToolFormat } from './tools/formats.ts';
export type { OfferOptions } from './tools/offered.ts';
export { ToolSet } from './tools/tool-set.ts';
export type { McpClient, McpClients, McpTool } from './programs/mcp-functions.ts';
export type { HostFunction, HostFunctions } from './tree/functions.ts';
export type { AskPerson, Question } from './trust/admission.ts';
export type { Approval, ApprovalState, Approvals } from './trust/approvals.ts';
export type { Guard, GuardAnswer, GuardRule, Proposal } from './trust/guard.ts';
export type { Standing } from './trust/standing.ts';
export { EXIT_CODES } from './vocabulary/error-codes.ts';
export type { ErrorCode } from './vocabulary/error-codes.ts';
export type { LimitName } from './vocabulary/limits.ts';
export type { Mode } from './vocabulary/modes.ts';
export type { ProgramLanguage } from './vocabulary/program-languages.ts';
