/**
 * The commands of `skillcell audit`.
 *
 * @module
 */
import { Option } from 'commander';
import { define, defineDefault, withClusterOptions, type CliCommand } from './shared-options.ts';

export function addAudit(program: CliCommand): void {
  const audit = define(program, 'audit', 'show, verify, export and prune the receipts of past calls');
  defineDefault(audit, 'list', 'list receipts, newest first')
    .use(withFilters)
    .option('--limit <n>', 'number of receipts', '20')
    .option('--denied', 'only calls with denials')
    .json()
    .example('audit list --denied')
    .runs(async () => (await import('./commands/audit.ts')).auditList);
  define(audit, 'show', 'show one complete receipt')
    .argument('<id>', 'call id')
    .option('--tree', 'show all calls of the tree that it belongs to, one per line')
    .json('print JSON (the default without --tree)')
    .example('audit show 01JD8Z5K3V9T4S7Q2M6N0P1R8W')
    .runs(async () => (await import('./commands/audit.ts')).auditShow);
  define(audit, 'verify', 'verify the hash chain of all receipts')
    .use(withClusterOptions)
    .option('--head <hash>', 'head hash from an earlier run; detects a truncated or rebuilt log')
    .option('--heads <file>', 'heads of a cluster from an earlier run with --json')
    .json()
    .example('audit verify')
    .runs(async () => (await import('./commands/audit.ts')).auditVerify);
  addRetention(audit);
  addBackup(program);
}

function addRetention(audit: CliCommand): void {
  define(audit, 'export', 'write receipts as JSON lines or OTLP logs, oldest first')
    .use(withFilters)
    .addOption(new Option('--format <format>', 'output format').choices(['jsonl', 'otlp']).default('jsonl'))
    .option('--out <file>', 'new file to write (default: stdout)')
    .option('--to <url>', 'collector to send OTLP logs to, such as https://collector.example.com/v1/logs')
    .option('--content', 'include parameters and results that were kept')
    .example('audit export --since 7d --out receipts.jsonl')
    .runs(async () => (await import('./commands/audit-export.ts')).auditExport);
  define(audit, 'prune', 'remove old receipts; a checkpoint keeps the rest verifiable')
    .requiredOption('--keep <time>', 'keep receipts from this time on: 90d, 12h, or a date')
    .json()
    .example('audit prune --keep 90d')
    .runs(async () => (await import('./commands/audit.ts')).auditPrune);
}

function addBackup(program: CliCommand): void {
  define(
    program,
    'backup',
    'back up receipts, approvals, trusted policies and installed skills; services may keep running',
  )
    .argument('<folder>', 'new folder for the backup')
    .option('--tokens', 'include the access file with the digests of tokens')
    .json()
    .example('backup /srv/backup/skillcell-monday --tokens')
    .runs(async () => (await import('./commands/backup.ts')).backup);
  define(
    program,
    'restore',
    "restore a backup into Skillcell's home, which must not have receipts, approvals or tokens",
  )
    .argument('<folder>', 'folder that `skillcell backup` wrote')
    .json()
    .example('restore /srv/backup/skillcell-monday')
    .runs(async () => (await import('./commands/backup.ts')).restore);
}

function withFilters(command: CliCommand): CliCommand {
  return command
    .option('--since <time>', 'only calls from this time on: a date, or how long ago, such as 7d or 12h')
    .option('--until <time>', 'only calls before this time')
    .option('--caller <name>', 'only calls of this caller, such as cli or http:acme:laptop')
    .option('--tenant <name>', 'only calls of this tenant of the HTTP service')
    .option('--skill <name>', 'only calls of this skill')
    .option('--outcome <code>', 'only calls that ended so: ok, failed, or an error code');
}
