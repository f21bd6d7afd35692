/**
 * Tasks of anthropics/skills that need LibreOffice: they run in an image that is built from Debian packages.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { buildBase } from '../../../src/inside.ts';
import { LETTER } from './docx.ts';
import type { Task } from './run-task.ts';

const PACKAGES = ['libreoffice-writer-nogui', 'libreoffice-calc-nogui', 'libreoffice-impress-nogui'];
const NEEDS = {
  container: { image: 'localhost/skillcell-office:latest' },
  limits: { processes: 64, timeout: '120s', cpu: '120s', memory: '1GiB', scratch: '256MiB' },
  capabilities: { programs: ['soffice'] },
};

/** Builds the image in this home; takes a minute or two. */
export async function buildOffice(home: string): Promise<{ packages: number; bytes: number }> {
  const { packages, bytes } = await buildBase('python', { home, packages: PACKAGES, name: 'office' });
  return { packages: packages.length, bytes };
}

/** Adds the image, and what LibreOffice needs, to the overlay that an installation wrote. */
export function useOffice(home: string, skill: string): void {
  const file = join(home, 'skills', `${skill}.yaml`);
  const document = parseDocument(readFileSync(file, 'utf8'));
  for (const [key, value] of Object.entries(NEEDS)) document.set(key, value);
  writeFileSync(file, document.toString({ lineWidth: 0 }));
}

const INSERTED =
  '<w:ins w:id="1" w:author="A" w:date="2026-01-01T00:00:00Z"><w:r><w:t> of it</w:t></w:r></w:ins>';

const ACCEPT: Task = {
  skill: 'docx',
  title: 'accept tracked changes, convert to PDF (LibreOffice)',
  steps: [
    { command: ['python', '-'], stdin: LETTER.replace('</w:p></w:body>', `${INSERTED}</w:p></w:body>`) },
    {
      command: ['python', 'scripts/accept_changes.py', 'letter.docx', 'clean.docx'],
      prints: 'Successfully accepted',
    },
    {
      command: ['python', '-'],
      stdin: `
import zipfile
text = zipfile.ZipFile("clean.docx").read("word/document.xml").decode()
print("w:ins" in text, "of it" in text)
`,
      prints: 'False True',
    },
    { command: ['soffice', '--headless', '--convert-to', 'pdf', 'clean.docx'], prints: 'writer_pdf_Export' },
    { command: ['python', '-'], stdin: 'print(open("clean.pdf", "rb").read(5))\n', prints: "b'%PDF-'" },
  ],
};

const RECALCULATE: Task = {
  skill: 'xlsx',
  title: 'recalculate a workbook (LibreOffice)',
  steps: [
    {
      command: ['python', '-'],
      stdin: `
from openpyxl import Workbook
book = Workbook()
book.active.append([40, 2, "=A1+B1"])
book.save("sum.xlsx")
`,
    },
    { command: ['python', 'scripts/recalc.py', 'sum.xlsx', '60'], prints: '"status": "success"' },
    {
      command: ['python', '-'],
      stdin:
        'from openpyxl import load_workbook\nprint(load_workbook("sum.xlsx", data_only=True).active["C1"].value)\n',
      prints: '42',
    },
  ],
};

export const OFFICE_TASKS: readonly Task[] = [ACCEPT, RECALCULATE];
