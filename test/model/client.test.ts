import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createClient, hasBaseUrl, hasCredentials } from '../../src/model/client.ts';

const variables = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_CONFIG_DIR',
  'ANTHROPIC_CUSTOM_HEADERS',
  'ANTHROPIC_FEDERATION_RULE_ID',
  'ANTHROPIC_IDENTITY_TOKEN',
  'ANTHROPIC_ORGANIZATION_ID',
  'ANTHROPIC_PROFILE',
];
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'escapement-credentials-'));
  for (const name of variables) vi.stubEnv(name, undefined);
  vi.stubEnv('ANTHROPIC_CONFIG_DIR', folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function writeProfile(name: string): void {
  mkdirSync(path.join(folder, 'configs'), { recursive: true });
  const config = { version: '1.0', authentication: { type: 'user_oauth' } };
  writeFileSync(path.join(folder, 'configs', `${name}.json`), JSON.stringify(config));
}

/** What the SDK itself finds, once it has looked. */
async function sdkFinds(): Promise<boolean> {
  const client = createClient();
  for (let round = 0; round < 200 && client.credentials === null; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return client.credentials !== null;
}

describe('hasCredentials', () => {
  it('is false where there is nothing', () => {
    expect(hasCredentials()).toBe(false);
  });

  it.each(['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_PROFILE'])('sees %s', (name) => {
    vi.stubEnv(name, 'x');
    expect(hasCredentials()).toBe(true);
    vi.stubEnv(name, '  ');
    expect(hasCredentials()).toBe(false);
  });

  it('sees a federation rule by environment', async () => {
    vi.stubEnv('ANTHROPIC_FEDERATION_RULE_ID', 'rule');
    expect(hasCredentials()).toBe(false);
    vi.stubEnv('ANTHROPIC_ORGANIZATION_ID', 'organisation');
    vi.stubEnv('ANTHROPIC_IDENTITY_TOKEN', 'token');
    expect(hasCredentials()).toBe(true);
    expect(await sdkFinds()).toBe(true);
  });

  it('sees the default profile, as the SDK does', async () => {
    writeProfile('default');
    expect(hasCredentials()).toBe(true);
    expect(await sdkFinds()).toBe(true);
  });

  it('sees the active profile, and no other', async () => {
    writeProfile('work');
    expect(hasCredentials()).toBe(false);
    writeFileSync(path.join(folder, 'active_config'), 'work\n');
    expect(hasCredentials()).toBe(true);
    expect(await sdkFinds()).toBe(true);
  });
});

describe('createClient', () => {
  it('retries nothing, and takes no key from the environment where one is given', () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'from the environment');
    const client = createClient({ apiKey: 'mine', baseUrl: 'http://x.invalid' });
    expect([client.maxRetries, client.apiKey, client.baseURL]).toEqual([0, 'mine', 'http://x.invalid']);
    expect(client.openTelemetry.traces.enabled).toBe(false);
  });

  it('needs no key for a server of one’s own', () => {
    expect(createClient({ baseUrl: 'http://x.invalid' }).apiKey).toBe('none');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://y.invalid');
    expect(createClient().apiKey).toBe('none');
  });

  it('leaves a profile its place', () => {
    writeProfile('default');
    expect(createClient({ baseUrl: 'http://x.invalid' }).apiKey).toBeNull();
  });
});

describe('hasBaseUrl', () => {
  it('reads the environment as the SDK does', () => {
    expect(hasBaseUrl()).toBe(false);
    vi.stubEnv('ANTHROPIC_BASE_URL', '  ');
    expect(hasBaseUrl()).toBe(false);
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://y.invalid');
    expect([hasBaseUrl(), hasBaseUrl('http://x.invalid')]).toEqual([true, true]);
  });
});
