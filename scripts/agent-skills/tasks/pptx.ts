/**
 * The pptx skill of anthropics/skills: unpack a presentation, add a slide, clean up, pack it.
 *
 * @module
 */
import type { Task } from './run-task.ts';

const MAKE_PRESENTATION = `
import zipfile
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
M = "http://schemas.openxmlformats.org/presentationml/2006/main"
P = "http://schemas.openxmlformats.org/package/2006"
T = "application/vnd.openxmlformats-officedocument.presentationml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
NS = f'xmlns:a="{A}" xmlns:r="{R}" xmlns:p="{M}"'
TREE = ('<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
        '<p:grpSpPr/></p:spTree></p:cSld>')

def rels(*pairs):
    each = "".join(f'<Relationship Id="rId{n}" Type="{R}/{kind}" Target="{to}"/>' for n, (kind, to) in enumerate(pairs, 1))
    return HEAD + f'<Relationships xmlns="{P}/relationships">{each}</Relationships>'

with zipfile.ZipFile("talk.pptx", "w") as z:
    z.writestr("[Content_Types].xml", HEAD + f'<Types xmlns="{P}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/ppt/presentation.xml" ContentType="{T}.presentation.main+xml"/>'
        f'<Override PartName="/ppt/slides/slide1.xml" ContentType="{T}.slide+xml"/>'
        f'<Override PartName="/ppt/slideLayouts/slideLayout1.xml" ContentType="{T}.slideLayout+xml"/></Types>')
    z.writestr("_rels/.rels", rels(("officeDocument", "ppt/presentation.xml")))
    z.writestr("ppt/_rels/presentation.xml.rels", rels(("slide", "slides/slide1.xml")))
    z.writestr("ppt/presentation.xml", HEAD + f'<p:presentation {NS}><p:sldIdLst><p:sldId id="256" r:id="rId1"/>'
        '</p:sldIdLst><p:notesSz cx="6858000" cy="9144000"/></p:presentation>')
    z.writestr("ppt/slides/slide1.xml", HEAD + f'<p:sld {NS}>{TREE}</p:sld>')
    z.writestr("ppt/slides/_rels/slide1.xml.rels", rels(("slideLayout", "../slideLayouts/slideLayout1.xml")))
    z.writestr("ppt/slideLayouts/slideLayout1.xml", HEAD + f'<p:sldLayout {NS}>{TREE}</p:sldLayout>')
`;

const LIST_SLIDE = `
from pathlib import Path
path = Path("unpacked/ppt/presentation.xml")
text = path.read_text(encoding="utf-8")
path.write_text(text.replace("</p:sldIdLst>", '<p:sldId id="257" r:id="rId2"/></p:sldIdLst>'), encoding="utf-8")
`;

const READ_BACK = `
import zipfile
print(sorted(name for name in zipfile.ZipFile("longer.pptx").namelist() if name.startswith("ppt/slides/slide")))
`;

export const PPTX_TASK: Task = {
  skill: 'pptx',
  title: 'unpack a presentation, add a slide, clean up, pack it',
  steps: [
    { command: ['python', '-'], stdin: MAKE_PRESENTATION },
    { command: ['python', 'scripts/office/unpack.py', 'talk.pptx', 'unpacked'], prints: 'Unpacked' },
    { command: ['python', 'scripts/add_slide.py', 'unpacked', 'slide1.xml'], prints: 'Created slide2.xml' },
    { command: ['python', '-'], stdin: LIST_SLIDE },
    { command: ['python', 'scripts/clean.py', 'unpacked'], prints: 'No unreferenced files' },
    {
      command: ['python', 'scripts/office/pack.py', 'unpacked', 'longer.pptx', '--original', 'talk.pptx'],
      prints: 'Successfully packed',
    },
    {
      command: ['python', '-'],
      stdin: READ_BACK,
      prints: "['ppt/slides/slide1.xml', 'ppt/slides/slide2.xml']",
    },
  ],
};
