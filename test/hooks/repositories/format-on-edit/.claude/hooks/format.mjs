import { readFileSync, writeFileSync } from 'node:fs';

const { tool_input: input } = JSON.parse(readFileSync(0, 'utf8'));
if (input.file_path.endsWith('.json')) {
  const text = readFileSync(input.file_path, 'utf8');
  writeFileSync(input.file_path, `${JSON.stringify(JSON.parse(text), null, 2)}\n`);
  process.stdout.write(`formatted ${input.file_path}\n`);
}
