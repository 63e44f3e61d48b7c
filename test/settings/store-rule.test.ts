import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { localSettingsFile, storeAllowRules } from '../../src/settings/store-rule.ts';
import { temporaryFolder } from '../tools/call-tool.ts';

function stored(folder: string): unknown {
  return JSON.parse(readFileSync(localSettingsFile(folder), 'utf8'));
}

function given(text: string): string {
  const folder = temporaryFolder();
  mkdirSync(dirname(localSettingsFile(folder)));
  writeFileSync(localSettingsFile(folder), text);
  return folder;
}

describe('a rule that is stored', () => {
  it('makes the folder and the file, and nothing else', async () => {
    const folder = temporaryFolder();
    await storeAllowRules(folder, ['Bash(git status)', 'Bash(git status)']);
    expect(stored(folder)).toEqual({ permissions: { allow: ['Bash(git status)'] } });
    expect(readdirSync(folder)).toEqual(['.escapement']);
    expect(readdirSync(join(folder, '.escapement'))).toEqual(['settings.local.json']);
  });

  it('keeps what is there, and comes once', async () => {
    const folder = given('\uFEFF{"model":"m","permissions":{"deny":["Read(.env)"],"allow":["A"],"x":1}}');
    await storeAllowRules(folder, ['A', 'B']);
    await storeAllowRules(folder, ['B']);
    expect(stored(folder)).toEqual({ model: 'm', permissions: { deny: ['Read(.env)'], allow: ['A', 'B'], x: 1 } });
  });

  it('makes nothing for no rules', async () => {
    const folder = temporaryFolder();
    await storeAllowRules(folder, []);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['{', 'is no JSON'],
    ['[]', 'does not hold an object'],
    ['{"permissions":1}', 'a member "permissions" of another form'],
    ['{"permissions":{"allow":"A"}}', 'a member "allow" of another form'],
  ])('does not write over %s', async (text, expected) => {
    const folder = given(text);
    await expect(storeAllowRules(folder, ['B'])).rejects.toThrow(expected);
    expect(readFileSync(localSettingsFile(folder), 'utf8')).toBe(text);
  });

  it('says where it cannot write', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, '.escapement'), '');
    await expect(storeAllowRules(folder, ['B'])).rejects.toThrow(/settings\.local\.json cannot be/);
  });
});
