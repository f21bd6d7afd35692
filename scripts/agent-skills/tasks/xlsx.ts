/**
 * The xlsx skill of anthropics/skills: write a workbook, unpack and pack it, read it.
 *
 * @module
 */
import type { Task } from './run-task.ts';

const WRITE = `
from openpyxl import Workbook
book = Workbook()
sheet = book.active
sheet.append(["town", "people"])
sheet.append(["Tübingen", 42])
sheet["B3"] = "=SUM(B2:B2)"
book.save("towns.xlsx")
`;

const READ = `
from openpyxl import load_workbook
sheet = load_workbook("again.xlsx").active
print([cell.value for row in sheet.iter_rows() for cell in row])
`;

export const XLSX_TASK: Task = {
  skill: 'xlsx',
  title: 'write a workbook with a formula, unpack and pack it, read it',
  steps: [
    { command: ['python', '-'], stdin: WRITE },
    { command: ['python', 'scripts/office/unpack.py', 'towns.xlsx', 'unpacked'], prints: 'Unpacked' },
    {
      command: ['python', 'scripts/office/pack.py', 'unpacked', 'again.xlsx', '--original', 'towns.xlsx'],
      prints: 'Successfully packed',
    },
    {
      command: ['python', '-'],
      stdin: READ,
      prints: "['town', 'people', 'Tübingen', 42, None, '=SUM(B2:B2)']",
    },
  ],
};
