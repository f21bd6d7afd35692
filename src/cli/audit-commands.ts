/**
 * The commands of `skillcell audit`.
 *
 * @module
 */
import { Option, type Command } from 'commander';
import type { BackupFlags } from './commands/backup.ts';
import type { ExportFlags } from './commands/audit-export.ts';
import { example, withClusterOptions, type Done } from './shared-options.ts';

export function addAudit(program: Command, done: Done): void {
  const audit = program
    .command('audit')
    .description('show, verify, export and prune the receipts of past calls');
  withFilters(audit.command('list', { isDefault: true }))
    .description('list receipts, newest first')
    .option('--limit <n>', 'number of receipts', '20')
    .option('--denied', 'only calls with denials')
    .option('--json', 'print JSON')
    .addHelpText('after', example('audit list --denied'))
    .action(async (options: object) => {
      const { auditList } = await import('./commands/audit.ts');
      done(await auditList(options));
    });
  audit
    .command('show')
    .argument('<id>', 'call id')
    .description('show one complete receipt')
    .option('--tree', 'show all calls of the tree that it belongs to, one per line')
    .option('--json', 'print JSON (the default without --tree)')
    .addHelpText('after', example('audit show 01JD8Z5K3V9T4S7Q2M6N0P1R8W'))
    .action(async (id: string, options: { tree?: boolean; json?: boolean }) => {
      const { auditShow } = await import('./commands/audit.ts');
      done(await auditShow(id, options));
    });
  withClusterOptions(audit.command('verify'))
    .description('verify the hash chain of all receipts')
    .option('--head <hash>', 'head hash from an earlier run; detects a truncated or rebuilt log')
    .option('--heads <file>', 'heads of a cluster from an earlier run with --json')
    .option('--json', 'print JSON')
    .addHelpText('after', example('audit verify'))
    .action(async (options: object) => {
      const { auditVerify } = await import('./commands/audit.ts');
      done(await auditVerify(options));
    });
  addRetention(audit, done);
  addBackup(program, done);
}

function addRetention(audit: Command, done: Done): void {
  withFilters(audit.command('export'))
    .description('write receipts as JSON lines or OTLP logs, oldest first')
    .addOption(new Option('--format <format>', 'output format').choices(['jsonl', 'otlp']).default('jsonl'))
    .option('--out <file>', 'new file to write (default: stdout)')
    .option('--to <url>', 'collector to send OTLP logs to, such as https://collector.example.com/v1/logs')
    .option('--content', 'include parameters and results that were kept')
    .addHelpText('after', example('audit export --since 7d --out receipts.jsonl'))
    .action(async (options: ExportFlags) => {
      const { auditExport } = await import('./commands/audit-export.ts');
      done(await auditExport(options));
    });
  audit
    .command('prune')
    .description('remove old receipts; a checkpoint keeps the rest verifiable')
    .requiredOption('--keep <time>', 'keep receipts from this time on: 90d, 12h, or a date')
    .option('--json', 'print JSON')
    .addHelpText('after', example('audit prune --keep 90d'))
    .action(async (options: { keep: string; json?: boolean }) => {
      const { auditPrune } = await import('./commands/audit.ts');
      done(await auditPrune(options));
    });
}

function addBackup(program: Command, done: Done): void {
  program
    .command('backup')
    .argument('<folder>', 'new folder for the backup')
    .description(
      'back up receipts, approvals, trusted policies and installed skills; services may keep running',
    )
    .option('--tokens', 'include the access file with the digests of tokens')
    .option('--json', 'print JSON')
    .addHelpText('after', example('backup /srv/backup/skillcell-monday --tokens'))
    .action(async (folder: string, options: BackupFlags) => {
      const { backup } = await import('./commands/backup.ts');
      done(await backup(folder, options));
    });
  program
    .command('restore')
    .argument('<folder>', 'folder that `skillcell backup` wrote')
    .description("restore a backup into Skillcell's home, which must not have receipts, approvals or tokens")
    .option('--json', 'print JSON')
    .addHelpText('after', example('restore /srv/backup/skillcell-monday'))
    .action(async (folder: string, options: { json?: boolean }) => {
      const { restore } = await import('./commands/backup.ts');
      done(await restore(folder, options));
    });
}

function withFilters(command: Command): Command {
  return command
    .option('--since <time>', 'only calls from this time on: a date, or how long ago, such as 7d or 12h')
    .option('--until <time>', 'only calls before this time')
    .option('--caller <name>', 'only calls of this caller, such as cli or http:acme:laptop')
    .option('--tenant <name>', 'only calls of this tenant of the HTTP service')
    .option('--skill <name>', 'only calls of this skill')
    .option('--outcome <code>', 'only calls that ended so: ok, failed, or an error code');
}
