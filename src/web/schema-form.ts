/**
 * A form generated from a JSON Schema. Values that have no fitting field are entered as JSON; the service validates
 * everything again.
 *
 * @module
 */
import { h, type Child } from './dom.ts';
import type { JsonSchema } from './types.ts';

/** A part of a form that holds a value. */
export interface Field {
  element: HTMLElement;
  /** Undefined if nothing was entered. Throws if a JSON field contains invalid JSON. */
  read: () => unknown;
}

/** Deeper values are entered as JSON. */
const MAX_DEPTH = 3;
const MAX_FIELDS = 60;

export function schemaForm(schema: JsonSchema): Field {
  const properties = propertiesOf(schema);
  if (!properties) return jsonField('Parameters', {}, { text: '{}' });
  return objectFields(schema, properties, 0);
}

function objectFields(schema: JsonSchema, properties: Record<string, JsonSchema>, depth: number): Field {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = Object.entries(properties)
    .slice(0, MAX_FIELDS)
    .map(([name, property]) => {
      const isRequired = required.has(name);
      return { name, isRequired, field: fieldFor(name, property, { isRequired, depth }) };
    });
  const none = fields.length === 0 ? [h('p', 'muted', 'This skill takes no parameters.')] : [];
  return {
    element: h(
      'div',
      'fields',
      none,
      fields.map(({ field }) => field.element),
    ),
    read: () => {
      const entered = fields.map(({ name, field }): [string, unknown] => [name, field.read()]);
      // fromEntries defines own properties, so a field named __proto__ is safe.
      return Object.fromEntries(entered.filter(([, value]) => value !== undefined));
    },
  };
}

interface Place {
  isRequired: boolean;
  depth: number;
}

function fieldFor(name: string, schema: JsonSchema, place: Place): Field {
  const choices = schema['enum'];
  if (Array.isArray(choices) && choices.length <= 200)
    return choiceField(name, schema, { choices, ...place });
  const properties = propertiesOf(schema);
  if (properties && place.depth < MAX_DEPTH) return groupField(name, schema, { properties, ...place });
  switch (schema['type']) {
    case 'string':
      return textField(name, schema, place);
    case 'integer':
    case 'number':
      return numberField(name, schema, place);
    case 'boolean':
      return booleanField(name, schema);
    default:
      return jsonField(name, schema, { isRequired: place.isRequired });
  }
}

function textField(name: string, schema: JsonSchema, { isRequired }: Place): Field {
  const input = h('textarea', { attrs: { rows: 1, spellcheck: 'false', required: isRequired } });
  input.value = typeof schema['default'] === 'string' ? schema['default'] : '';
  return labelledField(name, schema, {
    input,
    isRequired,
    // A required text may be empty.
    read: () => (input.value === '' && !isRequired ? undefined : input.value),
  });
}

function numberField(name: string, schema: JsonSchema, { isRequired }: Place): Field {
  const input = h('input', {
    attrs: {
      type: 'number',
      inputmode: 'decimal',
      step: schema['type'] === 'integer' ? 1 : 'any',
      min: numberIn(schema, 'minimum'),
      max: numberIn(schema, 'maximum'),
      required: isRequired,
    },
  });
  const start = numberIn(schema, 'default');
  if (start !== undefined) input.value = String(start);
  return labelledField(name, schema, {
    input,
    isRequired,
    read: () => (input.value === '' ? undefined : Number(input.value)),
  });
}

function booleanField(name: string, schema: JsonSchema): Field {
  const input = h('input', { attrs: { type: 'checkbox' } });
  input.checked = schema['default'] === true;
  const words = h('span', {}, h('span', 'field-name', name), aboutOf(schema));
  return { element: h('label', 'check', input, words), read: () => input.checked };
}

function choiceField(
  name: string,
  schema: JsonSchema,
  { choices, isRequired }: Place & { choices: unknown[] },
): Field {
  const options = choices.map((value, at) =>
    h('option', { attrs: { value: at } }, typeof value === 'string' ? value : JSON.stringify(value)),
  );
  const none = isRequired ? [] : [h('option', { attrs: { value: '' } }, 'not set')];
  const input = h('select', {}, none, options);
  const start = choices.indexOf(schema['default']);
  if (start >= 0) input.value = String(start);
  return labelledField(name, schema, {
    input,
    isRequired,
    read: () => (input.value === '' ? undefined : choices[Number(input.value)]),
  });
}

function groupField(
  name: string,
  schema: JsonSchema,
  { properties, isRequired, depth }: Place & { properties: Record<string, JsonSchema> },
): Field {
  const inner = objectFields(schema, properties, depth + 1);
  return {
    element: h('fieldset', {}, h('legend', {}, name), aboutOf(schema), inner.element),
    read: () => {
      const value = inner.read() as Record<string, unknown>;
      return Object.keys(value).length === 0 && !isRequired ? undefined : value;
    },
  };
}

function jsonField(
  name: string,
  schema: JsonSchema,
  { text = '', isRequired = false }: { text?: string; isRequired?: boolean },
): Field {
  const input = h('textarea', { class: 'mono', attrs: { rows: 2, spellcheck: 'false' } });
  input.value = 'default' in schema ? JSON.stringify(schema['default']) : text;
  return labelledField(`${name} (JSON)`, schema, {
    input,
    isRequired,
    read: () => {
      if (input.value.trim() === '') return undefined;
      try {
        return JSON.parse(input.value) as unknown;
      } catch {
        input.focus();
        throw new Error(`"${name}" is not valid JSON`);
      }
    },
  });
}

interface InputParts {
  input: HTMLElement;
  isRequired: boolean;
  read: () => unknown;
}

function labelledField(name: string, schema: JsonSchema, { input, isRequired, read }: InputParts): Field {
  const mark = isRequired ? h('span', 'required', 'required') : undefined;
  return { element: h('label', 'field', h('span', 'field-name', name, mark), aboutOf(schema), input), read };
}

function aboutOf(schema: JsonSchema): Child {
  const about = schema['description'];
  return typeof about === 'string' && about !== '' ? h('span', 'muted small', about) : undefined;
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> | undefined {
  const properties = schema['properties'];
  if (schema['type'] !== 'object' || typeof properties !== 'object' || properties === null) return undefined;
  const entries = Object.entries(properties).map(([name, value]) => [
    name,
    typeof value === 'object' && value !== null ? value : {},
  ]);
  return Object.fromEntries(entries) as Record<string, JsonSchema>;
}

function numberIn(schema: JsonSchema, key: string): number | undefined {
  const value = schema[key];
  return typeof value === 'number' ? value : undefined;
}
