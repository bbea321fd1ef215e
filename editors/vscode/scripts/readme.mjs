// Writes the tables of commands and settings in the README from package.json. With --check it fails where they are not as they
// would be written.
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../', import.meta.url);
const file = new URL('README.md', root);
const { contributes } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

/** Menus have commands that the palette hides. */
const hidden = new Set(contributes.menus.commandPalette.map(({ command }) => command));
const keys = new Map(contributes.keybindings.map(({ command, key }) => [command, `\`${key}\``]));
const commands = contributes.commands
  .filter(({ command }) => !hidden.has(command))
  .map(({ category, title, command }) => `| ${category}: ${title} | ${keys.get(command) ?? ''} | \`${command}\` |`);
const settings = Object.entries(contributes.configuration.properties).map(([name, p]) => {
  const values = p.enum?.map((value, i) => ` \`${value}\`: ${lower(p.enumDescriptions[i])}`).join('') ?? '';
  const text = (p.markdownDescription ?? p.description).replaceAll('|', '\\|');
  return `| \`${name}\` | \`${JSON.stringify(p.default)}\` | ${text}${values} |`;
});

const written = readFileSync(file, 'utf8');
let text = put(written, 'commands', ['| command | keys | id |', '|---|---|---|', ...commands]);
text = put(text, 'settings', ['| setting | default | |', '|---|---|---|', ...settings]);

if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (text !== written) {
  console.error('README.md is not what package.json says; run npm run fix');
  process.exit(1);
}

function put(text, name, lines) {
  const begin = `<!-- ${name}: written by scripts/readme.mjs -->\n`;
  const end = `<!-- /${name} -->`;
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`README.md has no place for ${name}`);
  return `${before}${begin}${lines.join('\n')}\n${end}${after}`;
}

function lower(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
