/**
 * Creates DOM elements. Strings always become text nodes, so nothing from a skill can become markup.
 *
 * @module
 */
import { escapeUnprintable } from './shown.ts';

export type Child = Node | string | number | undefined | false | readonly Child[];

export interface Props {
  class?: string;
  /** `true` sets an empty attribute; `false` and `undefined` set none. */
  attrs?: Record<string, string | number | boolean | undefined>;
  on?: Record<string, (event: Event) => void>;
}

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props | string = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  apply(element, typeof props === 'string' ? { class: props } : props);
  append(element, children);
  return element;
}

/** Creates an SVG element. */
export function svg(tag: string, attrs: Props['attrs'] = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  apply(element, { attrs });
  append(element, children);
  return element;
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

function append(parent: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (typeof child === 'string') parent.append(escapeUnprintable(child));
    else if (child instanceof Node) parent.append(child);
    else if (typeof child === 'number') parent.append(String(child));
    else if (Array.isArray(child)) append(parent, child);
  }
}

function apply(element: Element, { class: className, attrs = {}, on = {} }: Props): void {
  if (className) element.setAttribute('class', className);
  for (const [name, value] of Object.entries(attrs)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
}
