/**
 * Which package an import comes from, if the two have different names. A guess that a person confirms; never installed
 * unasked.
 *
 * @module
 */

const PACKAGE_OF: ReadonlyMap<string, string> = new Map([
  ['attr', 'attrs'],
  ['bs4', 'beautifulsoup4'],
  ['Crypto', 'pycryptodome'],
  ['cv2', 'opencv-python-headless'],
  ['dateutil', 'python-dateutil'],
  ['docx', 'python-docx'],
  ['dotenv', 'python-dotenv'],
  ['fitz', 'PyMuPDF'],
  ['git', 'GitPython'],
  ['jose', 'python-jose'],
  ['jwt', 'PyJWT'],
  ['magic', 'python-magic'],
  ['markdown', 'Markdown'],
  ['multipart', 'python-multipart'],
  ['OpenSSL', 'pyOpenSSL'],
  ['PIL', 'pillow'],
  ['pkg_resources', 'setuptools'],
  ['pptx', 'python-pptx'],
  ['psycopg2', 'psycopg2-binary'],
  ['pymupdf', 'PyMuPDF'],
  ['serial', 'pyserial'],
  ['skimage', 'scikit-image'],
  ['sklearn', 'scikit-learn'],
  ['slugify', 'python-slugify'],
  ['usb', 'pyusb'],
  ['websocket', 'websocket-client'],
  ['yaml', 'PyYAML'],
  ['zmq', 'pyzmq'],
]);

/** Undefined if the name cannot be the name of a package. */
export function packageOf(module: string): string | undefined {
  const top = module.split('.')[0] ?? '';
  const known = PACKAGE_OF.get(top);
  if (known !== undefined) return known;
  return /^[A-Za-z][A-Za-z0-9_]{0,100}$/.test(top) ? top.replaceAll('_', '-') : undefined;
}
