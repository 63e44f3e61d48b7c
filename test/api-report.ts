/** Writes the public API of every entry point to docs/api.md, or with `--check` fails where that file is out of date. Reads `dist`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Extractor, ExtractorConfig, ExtractorLogLevel } from '@microsoft/api-extractor';

const root = path.resolve(import.meta.dirname, '..');
const target = path.join(root, 'docs/api.md');

const entries = [
  { name: 'escapement', file: 'dist/src/index.d.ts' },
  { name: 'escapement/core', file: 'dist/src/core/index.d.ts' },
  { name: 'escapement/machine', file: 'dist/machines/agent-loop.d.ts' },
  { name: 'escapement/testing', file: 'dist/src/testing/index.d.ts' },
];

const preface = `# API

Everything that a version of the package promises, by entry point. Written by \`npm run generate\`; \`npm run verify\` fails
where it is out of date, so that a change of the API is seen in review.
`;

/** The declarations of one entry point, as TypeScript. */
function reportOf(file: string, folder: string): string {
  const configObject = ExtractorConfig.loadFile(path.join(root, 'test/api-extractor.json'));
  const config = ExtractorConfig.prepare({
    configObject: {
      ...configObject,
      mainEntryPointFilePath: path.join(root, file),
      apiReport: { enabled: true, reportFileName: 'report', reportFolder: folder, reportTempFolder: `${folder}/temp` },
    },
    configObjectFullPath: path.join(root, 'test/api-extractor.json'),
    packageJsonFullPath: path.join(root, 'package.json'),
  });
  const result = Extractor.invoke(config, {
    localBuild: true,
    messageCallback(message) {
      message.handled = message.logLevel !== ExtractorLogLevel.Error;
    },
  });
  if (!result.succeeded) throw new Error(`API Extractor failed on ${file}`);
  const report = readFileSync(path.join(folder, 'report.api.md'), 'utf8');
  const code = /^```ts\n(?<code>[\s\S]*?)^```$/m.exec(report)?.groups?.['code'] ?? '';
  return code.replace('// (No @packageDocumentation comment for this package)', '').trim();
}

function fullReport(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'escapement-api-'));
  try {
    const parts = entries.map(({ name, file }, index) => {
      const own = path.join(folder, String(index));
      mkdirSync(own);
      return `\n## \`${name}\`\n\n\`\`\`ts\n${reportOf(file, own)}\n\`\`\`\n`;
    });
    return preface + parts.join('');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function currentText(): string {
  try {
    return readFileSync(target, 'utf8');
  } catch {
    return '';
  }
}

const report = fullReport();
if (!process.argv.includes('--check')) writeFileSync(target, report);
else if (currentText() !== report) {
  console.error('docs/api.md is out of date: run `npm run generate` and review the difference.');
  process.exitCode = 1;
}
