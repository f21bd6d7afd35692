/**
 * The pdf skill of anthropics/skills: make a form, list its fields, fill it and read it back.
 *
 * @module
 */
import type { Task } from './run-task.ts';

const MAKE_FORM = `
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, NumberObject, TextStringObject as Text

writer = PdfWriter()
page = writer.add_blank_page(300, 200)
field = writer._add_object(DictionaryObject({
    NameObject("/Type"): NameObject("/Annot"), NameObject("/Subtype"): NameObject("/Widget"),
    NameObject("/FT"): NameObject("/Tx"), NameObject("/T"): Text("town"), NameObject("/V"): Text(""),
    NameObject("/DA"): Text("/Helv 12 Tf 0 g"),
    NameObject("/Rect"): ArrayObject([NumberObject(n) for n in (20, 20, 200, 40)]),
}))
page[NameObject("/Annots")] = ArrayObject([field])
writer._root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): ArrayObject([field])})
writer.write("form.pdf")
`;

const SET_VALUES = `
import json
fields = json.load(open("fields.json"))
for field in fields:
    field["value"] = "Tübingen"
json.dump(fields, open("values.json", "w"))
`;

const READ_BACK = `
from pypdf import PdfReader
print(PdfReader("filled.pdf").get_fields()["town"]["/V"])
`;

export const PDF_TASK: Task = {
  skill: 'pdf',
  title: 'make a form, list its fields, fill it, read it back',
  steps: [
    { command: ['python', '-'], stdin: MAKE_FORM },
    {
      command: ['python', 'scripts/check_fillable_fields.py', 'form.pdf'],
      prints: 'has fillable form fields',
    },
    {
      command: ['python', 'scripts/extract_form_field_info.py', 'form.pdf', 'fields.json'],
      prints: 'Wrote 1 fields',
    },
    { command: ['python', '-'], stdin: SET_VALUES },
    { command: ['python', 'scripts/fill_fillable_fields.py', 'form.pdf', 'values.json', 'filled.pdf'] },
    { command: ['python', '-'], stdin: READ_BACK, prints: 'Tübingen' },
  ],
};
