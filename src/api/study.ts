/**
 * `skillcell/study`: runs the test cases of skills, and studies how skills run in every mode.
 *
 * @module
 */
export { answerOf, isSame, misfit } from '../study/answers.ts';
export type { Answer } from '../study/answers.ts';
export { CASES_FILE, formatCases, readCases } from '../study/cases.ts';
export type { SkillCase } from '../study/cases.ts';
export { formatStudy } from '../study/format.ts';
export type { Dependency, DependencyClass, ModeStudy, SkillStudy, StudyReport } from '../study/report.ts';
export { runCases } from '../study/run-cases.ts';
export type { CaseRun, CasesOptions } from '../study/run-cases.ts';
export { studyFolder } from '../study/study.ts';
export type { StudyOptions } from '../study/study.ts';
