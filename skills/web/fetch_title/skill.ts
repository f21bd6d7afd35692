/**
 * Fetches a page and tells what it says about itself.
 */
import { factsOf, type Facts } from './page.ts';

interface Params {
  url: string;
  headings?: number;
}

interface Result extends Facts {
  url: string;
  status: number;
  content_type: string;
  redirects: string[];
}

const DEFAULT_HEADINGS = 5;
const MAX_REDIRECTS = 5;
/** What a page says about itself stands at its beginning. */
const MAX_CHARACTERS = 1_000_000;
const NO_FACTS: Facts = { title: '', description: '', site_name: '', language: '', canonical: '', headings: [] };

export async function execute({ url, headings = DEFAULT_HEADINGS }: Params): Promise<Result> {
  const redirects: string[] = [];
  let address = pageAddress(url);
  for (;;) {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.1', 'accept-encoding': 'identity' },
    });
    const location = response.headers.get('location');
    if (response.status >= 300 && response.status < 400 && location !== null) {
      if (redirects.length === MAX_REDIRECTS) throw new Error(`The page was moved more than ${MAX_REDIRECTS} times`);
      redirects.push(address);
      address = pageAddress(new URL(location, address).href);
      continue;
    }
    const content_type = response.headers.get('content-type') ?? '';
    const shared = { url: address, status: response.status, content_type, redirects };
    if (!isPage(content_type)) return { ...shared, ...NO_FACTS };
    const html = (await response.text()).slice(0, MAX_CHARACTERS);
    return { ...shared, ...factsOf(html, { headings, base: address }) };
  }
}

/** One spelling, without what belongs to nobody but the caller. */
function pageAddress(text: string): string {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw new Error(`${JSON.stringify(text)} is no address of a page`);
  }
  if (!/^https?:$/.test(url.protocol)) throw new Error(`${JSON.stringify(text)} is no address of http or https`);
  if (url.username !== '' || url.password !== '') throw new Error('An address with a user or a password is refused');
  url.hash = '';
  return url.href;
}

function isPage(contentType: string): boolean {
  return contentType === '' || /^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType);
}
