// Writes src/protocol.ts, the types of what goes over the wire, from docs/protocol.json, which the server's tests hold to the
// server's own types. With --check it fails where the file is not as it would be written.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** What this client calls and listens to. */
const methods = [
  'context/audit',
  'context/measure',
  'context/plan',
  'metrics/report',
  'session/compactions',
  'session/deleted',
  'session/get',
  'session/history',
  'session/list',
];
const notifications = ['metrics/thresholdExceeded', 'session/changed', 'session/removed'];

const root = new URL('../', import.meta.url);
const file = new URL('src/protocol.ts', root);
const protocol = JSON.parse(readFileSync(new URL('../../docs/protocol.json', root), 'utf8'));

const wanted = new Map();

function type(schema) {
  if (schema.$ref) {
    const name = schema.$ref.replace('#/$defs/', '');
    if (!wanted.has(name)) {
      wanted.set(name, ''); // a type may contain itself
      wanted.set(name, object(name, protocol.$defs[name]));
    }
    return name;
  }
  if (schema.anyOf) return schema.anyOf.map(type).join(' | ');
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map(one => type({ ...schema, type: one })).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `(${type(schema.items)})[]`;
    case 'object':
      if (schema.properties) return `{ ${members(schema).join(' ')} }`;
      if (schema.additionalProperties) return `Record<string, ${type(schema.additionalProperties)}>`;
      return 'Record<string, never>';
    default:
      return 'unknown';
  }
}

function members(schema) {
  return Object.entries(schema.properties).map(([name, member]) => {
    const mark = schema.required?.includes(name) ? '' : '?';
    return `${comment(member.description)}${name}${mark}: ${type(member)};`;
  });
}

function object(name, schema) {
  return `${comment(schema.description)}export interface ${name} {\n${members(schema).join('\n')} }`;
}

function comment(text) {
  return text ? `/** ${text.replaceAll('*/', '* /')} */\n` : '';
}

const requests = methods.map(name => {
  const { params, result } = protocol.methods[name];
  return `'${name}': { params: ${type(params)}; result: ${type(result)} };`;
});
const told = notifications.map(name => `'${name}': ${type(protocol.notifications[name].params)};`);

const text = `// Made by scripts/protocol.mjs from docs/protocol.json. Do not edit.

/** The version of the protocol that this client speaks. */
export const protocolVersion = ${protocol.protocolVersion};

/** What this client calls. */
export interface Requests { ${requests.join('\n')} }

/** What this client listens to. */
export interface Notifications { ${told.join('\n')} }

${[...wanted.keys()]
  .sort()
  .map(name => wanted.get(name))
  .join('\n\n')}
`;

const biome = spawnSync('npx', ['biome', 'format', '--stdin-file-path=src/protocol.ts'], {
  cwd: root,
  input: text,
  encoding: 'utf8',
});
if (biome.status !== 0) throw new Error(`biome: ${biome.stderr}`);

if (!process.argv.includes('--check')) {
  writeFileSync(file, biome.stdout);
} else if (readFileSync(file, 'utf8') !== biome.stdout) {
  console.error('src/protocol.ts is not what docs/protocol.json says; run npm run fix');
  process.exit(1);
}
