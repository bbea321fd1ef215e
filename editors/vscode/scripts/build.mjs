// Bundles the extension and the page of its dashboard into dist/.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
mkdirSync('dist', { recursive: true });
copyFileSync('../../docs/config.schema.json', 'dist/config.schema.json');

const common = { bundle: true, minify: true, logLevel: 'warning', legalComments: 'none', metafile: true };
const bundles = await Promise.all([
  build({
    ...common,
    entryPoints: ['src/extension.ts'],
    outfile: 'dist/extension.js',
    platform: 'node',
    format: 'cjs',
    target: 'node20', // that of VS Code 1.91
    external: ['vscode'],
    mainFields: ['module', 'main'],
  }),
  build({
    ...common,
    entryPoints: { webview: 'src/webview/main.ts' },
    outdir: 'dist',
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
  }),
  build({ ...common, entryPoints: { webview: 'src/webview/webview.css' }, outdir: 'dist' }),
]);

/** Those of others that went into the bundles, with their licences, which have to be handed on. */
const packages = new Set(
  bundles
    .flatMap(bundle => Object.keys(bundle.metafile.inputs))
    .flatMap(file => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []),
);
const notices = [...packages].sort().map(dir => {
  const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
  const file = readdirSync(dir).find(file => /^(licen[cs]e|copying)([-.].*)?$/i.test(file));
  if (
    !file ||
    !['MIT', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', '0BSD', 'BlueOak-1.0.0'].includes(license)
  ) {
    throw new Error(`${name} ${version}: no licence that this project ships (${license})`);
  }
  return `${name} ${version}, ${file}\n\n${readFileSync(join(dir, file), 'utf8').trim()}\n\n${'-'.repeat(80)}\n`;
});
writeFileSync('dist/THIRD_PARTY_LICENSES.txt', notices.join('\n'));
