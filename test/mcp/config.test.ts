import { describe, expect, it } from 'vitest';
import { readServers } from '../../src/mcp/config.ts';
import { expandServer, redactor } from '../../src/mcp/expand.ts';

describe('readServers', () => {
  it('reads the three ways of writing a server, and leaves out what is disabled', () => {
    const { entries, problems } = readServers(
      {
        files: { command: 'npx', args: ['-y', 'server'], env: { A: 'b' }, timeout: 5_000 },
        typed: { type: 'stdio', command: 'node', autoApprove: ['x'] },
        web: { type: 'http', url: 'https://x.example/mcp', headers: { Authorization: 'Bearer ${T}' } },
        bare: { url: 'https://y.example' },
        other: { type: 'streamable-http', url: 'https://z.example' },
        off: { command: 'no', disabled: true },
      },
      '.mcp.json',
    );
    expect(problems).toEqual([]);
    expect(entries.map(({ name, config }) => [name, config.type ?? 'stdio'])).toEqual([
      ['files', 'stdio'],
      ['typed', 'stdio'],
      ['web', 'http'],
      ['bare', 'http'],
      ['other', 'http'],
    ]);
    expect(entries[0]?.config).toEqual({ command: 'npx', args: ['-y', 'server'], env: { A: 'b' }, timeout: 5_000 });
    expect(entries[1]?.source).toBe('.mcp.json');
  });

  it.each([
    [{ a: 1 }, /"a" of f cannot be used: it is no object/],
    [{ a: {} }, /url/],
    [{ a: { command: '' } }, /command/],
    [{ a: { command: 'x', env: { K: 1 } } }, /env\.K/],
    [{ a: { type: 'sse', url: 'http://x' } }, /neither "stdio" nor "http"/],
    [{ a: { type: 'http' } }, /url/],
    ['nonsense', /MCP servers of f cannot be read/],
  ])('says what is wrong with %j', (servers, sentence) => {
    const { entries, problems } = readServers(servers, 'f');
    expect(entries).toEqual([]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(sentence);
  });

  it('quotes no value of a server that is wrong', () => {
    const { problems } = readServers({ a: { url: 7, headers: { Authorization: 'Bearer topsecret' } } }, 'f');
    expect(problems.join('')).not.toContain('topsecret');
  });
});

describe('expandServer', () => {
  const env = { KEY: 'k-123456', EMPTY: '', HOME: '/home/me', REGION: 'us-east-1', RANDOM: 'abcdefghij0123456789' };

  it('fills in every text, with the default of a shell', () => {
    const stdio = {
      command: '${HOME}/bin',
      args: ['${NO:-x}', '${EMPTY:-y}', '$KEY', '${EMPTY}'],
      env: { A: '${KEY}' },
    };
    expect(expandServer(stdio, env).config).toEqual({
      command: '/home/me/bin',
      args: ['x', 'y', '$KEY', ''],
      env: { A: 'k-123456' },
    });
    const http = { type: 'http', url: 'https://${REGION}.example/${NO:-}', headers: { X: 'Bearer ${KEY}' } } as const;
    expect(expandServer(http, env).config).toMatchObject({
      url: 'https://us-east-1.example/',
      headers: { X: 'Bearer k-123456' },
    });
  });

  it('names the variable that is missing', () => {
    expect(() => expandServer({ command: 'x', env: { A: '${GONE}' } }, env)).toThrow(
      /variable GONE of its env is not set/,
    );
  });

  it('knows what is secret: by the name of the variable or of the place, by its look, in headers and addresses', () => {
    const secretsOf = (config: Parameters<typeof expandServer>[0]) => expandServer(config, env).secrets;
    expect(secretsOf({ command: 'x', args: ['${KEY}'] })).toEqual(['k-123456']);
    expect(secretsOf({ command: 'x', env: { API_TOKEN: 'literal-value' } })).toEqual(['literal-value']);
    expect(secretsOf({ command: 'x', args: ['${RANDOM}'] })).toEqual([env.RANDOM]);
    expect(secretsOf({ command: '${HOME}', env: { R: '${REGION}', NODE_ENV: 'production' } })).toEqual([]);
    expect(secretsOf({ type: 'http', url: 'https://u:passw0rd@x.example/?k=query-secret' })).toEqual([
      'passw0rd',
      'query-secret',
    ]);
    expect(secretsOf({ type: 'http', url: 'https://x.example', headers: { 'X-Thing': 'Bearer abcdef' } })).toEqual([
      'Bearer abcdef',
    ]);
  });
});

describe('redactor', () => {
  it('takes out secrets, the longest first, and what stands behind Bearer', () => {
    const redact = redactor(['Bearer abcdef', 'abcdefghi']);
    expect(redact('a Bearer abcdef b abcdefghi c abcdef bearer')).toBe('a [secret] b [secret] c [secret] bearer');
  });
});
