/**
 * A throwaway home with a project and invented secrets for hostile scripts, and what they changed in it.
 *
 * @module
 */
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Invented, and nowhere else on this machine. */
export const SECRET = 'invented-secret-7f3a91';
/** A user who owns nothing on this machine. */
export const THROWAWAY_ID = 61_234;
const LONG_AGO = new Date('2020-01-01');

const CALENDAR = 'BEGIN:VCALENDAR\nBEGIN:VEVENT\nRRULE:FREQ=DAILY\nEND:VEVENT\nEND:VCALENDAR\n';
const FILES: Readonly<Record<string, string>> = {
  '.ssh/id_rsa': `${SECRET}\n`,
  '.config/google-chrome/Default/History': `${SECRET}\n`,
  'notes.txt': 'of the person\n',
  'project/letter.docx': 'a letter\n',
  'project/talk.pptx': 'a talk\n',
  'project/team.ics': CALENDAR,
  'project/meeting.json': '{"event": "a meeting"}\n',
  'project/mail.json': '{"from": "a@mail.test"}\n',
  'project/patient-vitals.txt': 'pulse 60\n',
};

/** Returns the folder of the home; its project is in `project`. */
export function makeWorld(folder: string): string {
  const home = join(folder, 'person');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
    utimesSync(join(home, path), LONG_AGO, LONG_AGO);
  }
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', join(home, 'project')], { env: {} });
  for (const path of ['', ...readdirSync(home, { recursive: true, encoding: 'utf8' })]) {
    const file = join(home, path);
    if (process.getuid?.() === 0) lchownSync(file, THROWAWAY_ID, THROWAWAY_ID);
  }
  chmodSync(home, 0o755);
  return home;
}

export type Snapshot = ReadonlyMap<string, string>;

/** Mode and content of everything in the home, without following links. */
export function snapshot(home: string): Snapshot {
  const paths = ['', ...readdirSync(home, { recursive: true, encoding: 'utf8' })];
  return new Map(
    paths.sort().map((path) => {
      const stat = lstatSync(join(home, path));
      const content = stat.isFile()
        ? createHash('sha256')
            .update(readFileSync(join(home, path)))
            .digest('hex')
        : '';
      return [path, `${stat.mode.toString(8)} ${content}`];
    }),
  );
}

/** Paths that differ. Files by which a script only says that it ran do not count. */
export function changes(before: Snapshot, after: Snapshot): string[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.filter(
    (path) => before.get(path) !== after.get(path) && !/\.script_executed_\w+\.log$/.test(path),
  );
}
