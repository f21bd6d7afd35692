/**
 * Findings as SARIF 2.1.0, for code scanning.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { printableLine } from '../../src/inside.ts';
import { RULES, type Finding, type RuleId, type SkillReport } from './report.ts';

const RULE_IDS = Object.keys(RULES) as RuleId[];

export interface SarifLog {
  $schema: string;
  version: '2.1.0';
  runs: object[];
}

export function sarifOf(reports: readonly SkillReport[], version: string): SarifLog {
  const findings = reports.flatMap((report) => report.findings);
  return {
    $schema: 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Skillcell', semanticVersion: version, rules: RULE_IDS.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        originalUriBaseIds: { SRCROOT: { description: { text: 'The root of the repository.' } } },
        results: findings.map(resultOf),
      },
    ],
  };
}

function ruleOf(id: RuleId): object {
  return { id, shortDescription: { text: RULES[id] } };
}

function resultOf(finding: Finding): object {
  const { rule, level, file, line } = finding;
  const text = printableLine(finding.message);
  return {
    ruleId: rule,
    ruleIndex: RULE_IDS.indexOf(rule),
    level,
    message: { text },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: uriOf(file), uriBaseId: 'SRCROOT' },
          // Code scanning shows only results with a region.
          region: { startLine: line ?? 1 },
        },
      },
    ],
    // Without the line, so that a finding stays the same when lines move.
    partialFingerprints: { 'skillcell/v1': digestOf([rule, file, text]) },
  };
}

/** Separators stay, everything else that is special in a URI is escaped. */
function uriOf(file: string): string {
  return file.split('/').map(encodeURIComponent).join('/');
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}
