/**
 * The docx skill of anthropics/skills: unpack a document, add a comment, pack it, validate it.
 *
 * @module
 */
import type { Task } from './run-task.ts';

/** Makes `letter.docx`. */
export const LETTER = `
import zipfile
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
P = "http://schemas.openxmlformats.org/package/2006"
T = "application/vnd.openxmlformats-officedocument.wordprocessingml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
with zipfile.ZipFile("letter.docx", "w") as z:
    z.writestr("[Content_Types].xml", HEAD + f'<Types xmlns="{P}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{T}.document.main+xml"/></Types>')
    z.writestr("_rels/.rels", HEAD + f'<Relationships xmlns="{P}/relationships">'
        f'<Relationship Id="rId1" Type="{R}/officeDocument" Target="word/document.xml"/></Relationships>')
    z.writestr("word/_rels/document.xml.rels", HEAD + f'<Relationships xmlns="{P}/relationships"></Relationships>')
    z.writestr("word/document.xml", HEAD + f'<w:document {W}><w:body>'
        '<w:p><w:r><w:t>Dear reader</w:t></w:r></w:p></w:body></w:document>')
`;

const MARK_COMMENT = `
from pathlib import Path
path = Path("unpacked/word/document.xml")
text = path.read_text(encoding="utf-8")
run, end = text.index("<w:r>"), text.index("</w:r>") + len("</w:r>")
reference = ('<w:commentRangeEnd w:id="0"/><w:r><w:rPr><w:rStyle w:val="CommentReference"/></w:rPr>'
             '<w:commentReference w:id="0"/></w:r>')
path.write_text(text[:run] + '<w:commentRangeStart w:id="0"/>' + text[run:end] + reference + text[end:], encoding="utf-8")
`;

const READ_BACK = `
import zipfile
z = zipfile.ZipFile("commented.docx")
print("Which reader?" in z.read("word/comments.xml").decode(), "commentReference" in z.read("word/document.xml").decode())
`;

export const DOCX_TASK: Task = {
  skill: 'docx',
  title: 'unpack a document, add a comment, pack it, validate it',
  steps: [
    { command: ['python', '-'], stdin: LETTER },
    { command: ['python', 'scripts/office/unpack.py', 'letter.docx', 'unpacked'], prints: 'Unpacked' },
    { command: ['python', 'scripts/comment.py', 'unpacked', '0', 'Which reader?'], prints: 'comment' },
    { command: ['python', '-'], stdin: MARK_COMMENT },
    {
      command: [
        'python',
        'scripts/office/pack.py',
        'unpacked',
        'commented.docx',
        '--original',
        'letter.docx',
      ],
      prints: 'Successfully packed',
    },
    { command: ['python', 'scripts/office/validate.py', 'commented.docx'], prints: 'All validations PASSED' },
    { command: ['python', '-'], stdin: READ_BACK, prints: 'True True' },
  ],
};
