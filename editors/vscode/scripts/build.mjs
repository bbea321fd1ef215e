// Bundles the extension and the page of its dashboard into dist/.
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
mkdirSync('dist', { recursive: true });
copyFileSync('../../docs/config.schema.json', 'dist/config.schema.json');

const common = { bundle: true, minify: true, logLevel: 'warning', legalComments: 'none' };
await Promise.all([
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
