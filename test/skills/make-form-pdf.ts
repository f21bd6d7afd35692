/**
 * Generates a PDF form with text fields, a check box, radio buttons and a choice on two pages: the sample of
 * `office/pdf_form_filler`, so that reviewers need not trust a binary file.
 *
 * @module
 */

/** Bodies of the objects, starting with object 1. */
const OBJECTS: readonly string[] = [
  '<< /Type /Catalog /Pages 2 0 R /AcroForm 5 0 R >>',
  '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>',
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 400] /Resources << /Font << /Helv 6 0 R >> >> /Contents 7 0 R /Annots [8 0 R 9 0 R 10 0 R 13 0 R 14 0 R] >>',
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 400] /Resources << /Font << /Helv 6 0 R >> >> /Annots [11 0 R 15 0 R 16 0 R] >>',
  '<< /Fields [8 0 R 9 0 R 10 0 R 12 0 R 11 0 R 15 0 R 16 0 R] /DR << /Font << /Helv 6 0 R >> >> /DA (/Helv 10 Tf 0 g) >>',
  '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  stream('BT /Helv 14 Tf 40 360 Td (Registration) Tj ET'),
  widget('/FT /Tx /T (name) /Ff 2 /MaxLen 40 /V ()', '40 320 240 340'),
  widget('/FT /Tx /T (remarks) /Ff 4096 /V ()', '40 240 360 300'),
  widget(
    '/FT /Btn /T (newsletter) /V /Off /AS /Off /AP << /N << /Yes 17 0 R /Off 18 0 R >> >>',
    '40 210 56 226',
  ),
  widget('/FT /Ch /T (country) /Ff 131072 /Opt [(Austria) (Germany) (Italy)] /V ()', '40 320 240 340'),
  '<< /FT /Btn /T (ticket) /Ff 49154 /V /Off /Kids [13 0 R 14 0 R] >>',
  widget('/Parent 12 0 R /AS /Off /AP << /N << /Day 17 0 R /Off 18 0 R >> >>', '40 180 56 196'),
  widget('/Parent 12 0 R /AS /Off /AP << /N << /Week 17 0 R /Off 18 0 R >> >>', '80 180 96 196'),
  widget('/FT /Tx /T (number) /Ff 1 /V (A-7)', '40 280 240 300'),
  widget('/FT /Sig /T (signature)', '40 200 240 260'),
  appearance('4 4 8 8 re f'),
  appearance(''),
];

function widget(entries: string, rectangle: string): string {
  return `<< /Type /Annot /Subtype /Widget /F 4 ${entries} /Rect [${rectangle}] /DA (/Helv 10 Tf 0 g) >>`;
}

function stream(content: string, entries = ''): string {
  return `<< ${entries}/Length ${content.length} >>\nstream\n${content}\nendstream`;
}

function appearance(content: string): string {
  return stream(content, '/Type /XObject /Subtype /Form /BBox [0 0 16 16] ');
}

export function makeFormPdf(): Buffer {
  let text = '%PDF-1.7\n';
  const offsets = OBJECTS.map((body, at) => {
    const offset = text.length;
    text += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return offset;
  });
  const start = text.length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 ${OBJECTS.length + 1}\n0000000000 65535 f \n${rows}`;
  text += `trailer\n<< /Size ${OBJECTS.length + 1} /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}
