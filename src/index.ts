/**
 * The whole public surface of Skillcell. What is exported here is public API; nothing else is.
 *
 * @module
 */
export { createRuntime, Runtime } from './runtime.ts';
export type { ExecuteOptions, RecordOptions, RuntimeOptions } from './runtime-options.ts';
export type { Allowed } from './record/observation.ts';
export { saveRecording } from './record/recording.ts';
export type { Recording } from './record/recording.ts';
export type { SecretCallback, SecretContext, SecretProvider } from './broker/secrets/providers.ts';
export { commandSecrets, environmentSecrets, fileSecrets } from './broker/secrets/providers.ts';
export { buildSkill, isCompiled } from './build/build-skill.ts';
export { buildBase } from './build/container/base-image.ts';
export type { BaseOptions, BuiltBase } from './build/container/base-image.ts';
export { buildImage } from './build/container/build-image.ts';
export type { BuiltImage, ImageOptions } from './build/container/build-image.ts';
export type { BuildOptions, Built } from './build/build-skill.ts';
export { initSkill, LANGUAGES } from './build/init-skill.ts';
export type { InitOptions, Language } from './build/init-skill.ts';
export { EXIT_CODES, SkillError, toSkillError } from './errors.ts';
export { failOwner } from './fault-owner.ts';
export type { Blamed } from './fault-owner.ts';
export { JsonText, MAX_JSON_HERE, outcomeJson, resultText } from './json-text.ts';
export type { MessageOptions, ReadMessage } from './params/read-message.ts';
export type { OffloadCounts } from './offload/offload.ts';
export type { ErrorBody, ErrorCode, LimitName } from './errors.ts';
export type { CapabilityEvent, Execution, Failure, Mode, Outcome, Success, Usage } from './outcome.ts';
export type { CallEvent, CallEventName, CallEvents, CallListener, RunningCall } from './calls/events.ts';
export { HostFolders } from './calls/host-folders.ts';
export type { HostPlaces } from './calls/host-folders.ts';
export { Connections, SERVER_TIMEOUTS } from './dispatch/connections.ts';
export { Dispatcher } from './dispatch/dispatcher.ts';
export type { DispatchEntry, DispatchLoad, LaneLoad, Turn } from './dispatch/dispatcher.ts';
export type { DispatchOptions, LaneLimits, Rate } from './dispatch/limits.ts';
export type { TraceContext } from './telemetry/telemetry.ts';
export { TOOL_FORMATS } from './tools/formats.ts';
export type {
  BedrockTool,
  ClaudeTool,
  FunctionTool,
  GeminiFunction,
  McpTool,
  ToolFormat,
  ToolFormats,
} from './tools/formats.ts';
export { skillName, toolName } from './tools/names.ts';
export { ToolSet } from './tools/tool-set.ts';
export type { SkippedSkill, ToolCall, ToolNote } from './tools/tool-set.ts';
export { GENESIS, readAuditLog } from './audit/log.ts';
export type { AuditLog, AuditReader, ReadLog, StoredReceipt, Verification } from './audit/log.ts';
export type { Receipt } from './audit/receipt.ts';
export type { PairReport } from './cell/machine.ts';
export type { Plan } from './cell/plan.ts';
export type { BundleLocation } from './load/load-bundle.ts';
export type { Skill } from './load/skill.ts';
export type { JsonSchema, Manifest } from './manifest/manifest.ts';
export type { AskPerson, Question } from './trust/admission.ts';
export type { Approval, Approvals, ApprovalState } from './trust/approvals.ts';
export type { Guard, GuardAnswer, GuardRule, Proposal } from './trust/guard.ts';
export { questionFor } from './trust/admission.ts';
export { describeCapabilities, describeSkill } from './trust/plain-words.ts';
export type { Risk, Sentence } from './trust/plain-words.ts';
export {
  formatSignatures,
  isGoodEd25519,
  makeKeyPair,
  parseSignatures,
  signedBytes,
  signLock,
} from './trust/signature.ts';
export type { Signature } from './trust/signature.ts';
export type { Profile } from './trust/profile.ts';
export type { Standing } from './trust/standing.ts';
export type { ExplainedCapability } from './policy/explain-grant.ts';
export { findPolicies } from './policy/find-policy.ts';
export { namedPolicy, policyInForce, trustPolicy, type PolicyPlaces } from './policy/in-force.ts';
export { defaultHome } from './load/home.ts';
export { capabilitySet } from './load/capability-set.ts';
export { PACKAGE_ENGINES, pinLines } from './load/pins.ts';
export type { PinnedPackage, PinnedPackages, Pins } from './load/pins.ts';
export { isLoopback } from './policy/loopback.ts';
export {
  markedLines,
  printable,
  printableBlock,
  printableJson,
  printableLine,
} from './manifest/printable.ts';
export { shellWord } from './manifest/quote.ts';
export { packageRoot, packageVersion } from './package-root.ts';
export { formatDuration, formatSize, parseDuration, parseSize } from './manifest/units.ts';
export { DEFAULT_POLICY, parsePolicy } from './policy/operator.ts';
export type { OperatorPolicy } from './policy/operator.ts';
export { formatCases, readCases, CASES_FILE } from './study/cases.ts';
export type { SkillCase } from './study/cases.ts';
export { runCases } from './study/run-cases.ts';
export type { CaseRun, CasesOptions } from './study/run-cases.ts';
export { answerOf, isSame, misfit } from './study/answers.ts';
export type { Answer } from './study/answers.ts';
export { studyFolder } from './study/study.ts';
export type { StudyOptions } from './study/study.ts';
export { formatStudy } from './study/format.ts';
export type { Dependency, DependencyClass, ModeStudy, SkillStudy, StudyReport } from './study/report.ts';
