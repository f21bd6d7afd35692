/**
 * Internals for our own front ends (`cli`, `mcp`, `http`). Not public: programs use `index.ts` and the subpaths in `api/`.
 *
 * @module
 */
export { createRuntime, Runtime } from './runtime.ts';
export { describeReach, reachOf, type Reached } from './tree/reach.ts';
export type { Program, ProgramLimits, ProgramMode, ProgramOptions } from './programs/programs.ts';
export { PROGRAM_LANGUAGE_NAMES, type ProgramLanguage } from './vocabulary/program-languages.ts';
export { mapConcurrently } from './tools/map-concurrently.ts';
export type { CommandResult, CommandSuccess } from './results/command-result.ts';
export type { FileChange } from './results/changed-files.ts';
export type { ExecOptions, ExecuteOptions, RecordOptions, RuntimeOptions } from './runtime-options.ts';
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
export { EXIT_CODES } from './vocabulary/error-codes.ts';
export { SkillError, toSkillError } from './errors.ts';
export { failOwner } from './fault-owner.ts';
export type { FaultScope } from './fault-owner.ts';
export { JsonText, MAX_JSON_HERE, outcomeJson, parseExact, resultText } from './json-text.ts';
export type { MessageOptions, ReadMessage } from './params/read-message.ts';
export type { OffloadCounts } from './offload/offload.ts';
export type { ErrorBody } from './errors.ts';
export type { ErrorCode } from './vocabulary/error-codes.ts';
export type { LimitName } from './vocabulary/limits.ts';
export type { CapabilityEvent, Execution, Failure, Outcome, Success, Usage } from './outcome.ts';
export type { Mode } from './vocabulary/modes.ts';
export type { CallEvent, CallEventName, CallEvents, CallListener, RunningCall } from './calls/events.ts';
export { HostFolders } from './calls/host-folders.ts';
export type { HostPlaces } from './calls/host-folders.ts';
export { Connections, SERVER_TIMEOUTS, UNREAD_MS } from './dispatch/connections.ts';
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
export { typingsFor } from './tools/offer.ts';
export type { Typings } from './tools/offer.ts';
export { callableOf, typingsOf } from './tools/typings/typings.ts';
export type { Callable } from './tools/typings/contract.ts';
export { ToolSet } from './tools/tool-set.ts';
export type { SkippedSkill, ToolCall, ToolNote } from './tools/tool-set.ts';
export { readAuditLog } from './audit/log.ts';
export { backupHome, restoreHome } from './audit/backup.ts';
export { pruneLog } from './audit/prune.ts';
export type { Checkpoint } from './audit/checkpoints.ts';
export { GENESIS } from './audit/queries.ts';
export type { AuditLog, ReadLog } from './audit/log.ts';
export type { AuditReader, ListOptions, StoredReceipt, Verification } from './audit/queries.ts';
export type { Receipt } from './audit/receipt.ts';
export type { PairReport } from './cell/machine.ts';
export type { Plan } from './policy/plan.ts';
export type { Overlays } from './overlays.ts';
export type { CapabilitySource } from './policy/capability-sources.ts';
export type { SkillGrants } from './policy/skill-grants.ts';
export type { BundleLocation } from './load/load-bundle.ts';
export { isNetworkModule } from './load/modules.ts';
export type { Skill } from './load/skill.ts';
export type { InstallProgress, InstallStep } from './load/install-progress.ts';
export type { AcceptPackages } from './load/install-script.ts';
export type { Installation, InstallOptions } from './load/install-skill.ts';
export type { PackageNeed, PackageProposal } from './load/propose-packages.ts';
export type { Pruned, PrunedEntry, PruneOptions } from './load/prune.ts';
export type { Uninstalled } from './load/uninstall.ts';
export type { WrittenLock } from './load/write-lock.ts';
export type { JsonSchema, Manifest } from './manifest/manifest.ts';
export type { AskPerson, Question } from './trust/admission.ts';
export type { Approval, Approvals, ApprovalState } from './trust/approvals.ts';
export type { Guard, GuardAnswer, GuardRule, Proposal } from './trust/guard.ts';
export { questionFor } from './trust/admission.ts';
export { describeCapabilities, describeSkill } from './trust/plain-words.ts';
export type { Sentence } from './trust/plain-words.ts';
export {
  formatSignatures,
  isGoodEd25519,
  makeKeyPair,
  parseSignatures,
  signedBytes,
  signLock,
  withSignature,
} from './trust/signature.ts';
export type { Signature } from './trust/signature.ts';
export type { Profile } from './trust/profile.ts';
export type { Standing } from './trust/standing.ts';
export type { ExplainedCapability } from './policy/explain-grant.ts';
export { filesOf } from './policy/combine.ts';
export { policyDigest } from './audit/policy-digest.ts';
export { findPolicies } from './policy/find-policy.ts';
export { livePolicy, namedPolicy, policyInForce, trustPolicy } from './policy/in-force.ts';
export type { PolicyPlaces } from './policy/in-force.ts';
export type { LivePolicy, PolicyStatus } from './policy/live-policy.ts';
export { defaultHome } from './load/home.ts';
export { capabilitySet } from './load/capability-set.ts';
export { describeScripts, neededModules } from './load/script-imports.ts';
export { folderStamp } from './load/folder-stamp.ts';
export { isOverlayWarning } from './load/overlay.ts';
export { shadowWarnings } from './load/load-bundle.ts';
export { BUNDLED_PREFIX } from './load/locate.ts';
export { PACKAGE_ENGINES, pinLines } from './load/pins.ts';
export { FileLock } from './load/file-lock.ts';
export { saveOverlay } from './load/write-overlay.ts';
export { publishSync } from './load/publish.ts';
export type { PinnedPackage, PinnedPackages, Pins } from './load/pins.ts';
export { fixForCommand } from './cell/verdict/command-fix.ts';
export { isPublicAddress } from './broker/gateway/addresses.ts';
export { replacesBytes } from './results/command-result.ts';
export { isLoopback } from './policy/loopback.ts';
export {
  markedLines,
  printable,
  printableBlock,
  printableJson,
  printableLine,
} from './manifest/printable.ts';
export { readYaml } from './manifest/yaml-source.ts';
export { describeProblem } from './manifest/problems.ts';
export type { ManifestProblem } from './manifest/problems.ts';
export { shellWord } from './manifest/quote.ts';
export { filterSkills } from './tools/offered.ts';
export type { OfferOptions } from './tools/offered.ts';
export { packageRoot, packageVersion } from './package-root.ts';
export { formatDuration, formatLimit, formatSize, parseDuration, parseSize } from './manifest/units.ts';
export { DEFAULT_POLICY, parsePolicy } from './policy/operator.ts';
export type { OperatorPolicy } from './policy/operator.ts';
export { specialFileWarnings } from './policy/special-files.ts';
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
export {
  accept as acceptProposal,
  assertDemands,
  isAllowedByPolicy,
  isKnownHere,
  propose,
} from './distribution/propose.ts';
export type { Proposal as SkillProposal } from './distribution/propose.ts';
export { describeProposal } from './distribution/describe.ts';
export type { Description as ProposalDescription } from './distribution/describe.ts';
export { installFrozen } from './distribution/frozen.ts';
export type { FrozenSkill } from './distribution/frozen.ts';
export type { Allowances } from './distribution/judge.ts';
export { openSources } from './distribution/open.ts';
export { receive as receiveDelivery } from './distribution/arrival.ts';
export { readAttestations } from './distribution/attestations.ts';
export type { Attested } from './distribution/attestations.ts';
export { HttpClient } from './distribution/http/client.ts';
export { parseReference } from './distribution/oci/reference.ts';
export type { OciReference } from './distribution/oci/reference.ts';
export { publishSkill } from './distribution/publish.ts';
export type { Published } from './distribution/publish.ts';
export { mirrorSkill } from './distribution/mirror.ts';
export type { Mirrored } from './distribution/mirror.ts';
export { assertCatalogPlace, listInCatalog } from './distribution/oci/catalog.ts';
export { assertCatalog, searchCatalogs } from './distribution/search.ts';
export type { SearchHit, SearchResult } from './distribution/search.ts';
export { sourceKindOf } from './vocabulary/source-kinds.ts';
export { readEverything } from './load/read-bundle.ts';
export { changePins, pinsOf } from './distribution/pin-file.ts';
export type { PinPlace } from './distribution/pin-file.ts';
export { fetchUpdate, outdated, pinNamed, selectPins, staleness } from './distribution/update.ts';
export type { Staleness, Unknown as UnknownStaleness } from './distribution/update.ts';
export type { Delivery, OpenSource } from './distribution/contract.ts';
export { describeDemand } from './policy/source-rules.ts';
export { describeSigner } from './trust/signer.ts';
export { hiddenFrom } from './policy/tenant-context.ts';
export type { TenantContext, TenantOption } from './policy/tenant-context.ts';
export { secretFiles } from './policy/secret-places.ts';
export { nameMatches } from './manifest/star-pattern.ts';

export { tenantHome, tenantsDir } from './load/tenant-home.ts';
export { limitSchema, lowerLimits, tenantLimitSchema } from './tenants/limits.ts';
export type { Limits, Quota, TenantLimits } from './tenants/limits.ts';
export { LiveTenants } from './tenants/live-tenants.ts';
export type { LiveTenantsOptions } from './tenants/live-tenants.ts';
export { TENANTS_FILE } from './tenants/tenants-file.ts';
export type { Issuer, Tenant, UploadLimits } from './tenants/tenants-file.ts';
export { approvalsOfTenant } from './stages.ts';
export { Uploads } from './tenants/uploads.ts';
export type { ReceivedUpload, Upload } from './tenants/uploads.ts';
